import { createStore } from '../store.ts';
import type { SqlQuestion } from './wire.ts';

/** Queries that were run in this browser. They stay in it. */
export interface HistoryEntry extends SqlQuestion {
  readonly at: string;
  /** `cancelled`, the code of a problem, or null for an answer. */
  readonly failed: string | null;
  readonly rows: number;
  readonly ms: number;
  readonly chargedQu: number | null;
}

const STORED_AS = 'six.sql.history';
const LAST_STORED_AS = 'six.sql.last';
const ENTRIES_MAX = 100;

export const sqlHistory = createStore<readonly HistoryEntry[]>(readList());

export function remember(entry: HistoryEntry): void {
  const others = sqlHistory.get().filter(({ sql }) => sql !== entry.sql);
  store([entry, ...others].slice(0, ENTRIES_MAX));
}

export function forgetHistory(): void {
  store([]);
}

/** What stood in the editor, for the next visit. */
export function rememberLast(question: SqlQuestion): void {
  write(LAST_STORED_AS, question);
}

export function lastQuestion(): SqlQuestion | null {
  const last = read(LAST_STORED_AS);
  return isQuestion(last) ? last : null;
}

function store(entries: readonly HistoryEntry[]): void {
  sqlHistory.set(entries);
  write(STORED_AS, entries);
}

function readList(): readonly HistoryEntry[] {
  const list = read(STORED_AS);
  return Array.isArray(list) ? list.filter(isEntry) : [];
}

function isQuestion(value: unknown): value is SqlQuestion {
  return (
    typeof value === 'object' &&
    value !== null &&
    'sql' in value &&
    typeof value.sql === 'string' &&
    'tier' in value &&
    typeof value.tier === 'string' &&
    'params' in value &&
    typeof value.params === 'object' &&
    value.params !== null
  );
}

function isEntry(value: unknown): value is HistoryEntry {
  return (
    isQuestion(value) && 'at' in value && typeof value.at === 'string' && 'rows' in value && 'ms' in value
  );
}

/** Storage may be full, or hold what an older version wrote: neither may stop a query. */
function read(name: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(name) ?? 'null');
  } catch {
    return null;
  }
}

function write(name: string, value: unknown): void {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    localStorage.removeItem(name);
  }
}
