import { createStore } from '../store.ts';
import { readStored, writeStored } from '../stored.ts';
import { isQuestion, type SqlQuestion } from './query-text.ts';

/** A query that was run. The history never leaves the browser. */
export interface HistoryEntry extends SqlQuestion {
  readonly at: string;
  /** `cancelled`, the code of a problem, or null for a success. */
  readonly failed: string | null;
  readonly rows: number;
  readonly ms: number;
  readonly chargedQu: number | null;
  /** The job whose result it is; a query that was answered directly has none. */
  readonly job?: string;
}

const STORED_AS = 'six.sql.history';
const ENTRIES_MAX = 100;

export const sqlHistory = createStore<readonly HistoryEntry[]>(readList());

/** The newest run of a text stands for all of it. */
export function remember(entry: HistoryEntry): void {
  const others = sqlHistory
    .get()
    .filter(({ sql, job }) => sql !== entry.sql && (job === undefined || job !== entry.job));
  store([entry, ...others].slice(0, ENTRIES_MAX));
}

export function forgetHistory(): void {
  store([]);
}

function store(entries: readonly HistoryEntry[]): void {
  sqlHistory.set(entries);
  writeStored(STORED_AS, entries);
}

function readList(): readonly HistoryEntry[] {
  const list = readStored(STORED_AS);
  return Array.isArray(list) ? list.filter(isEntry) : [];
}

function isEntry(value: unknown): value is HistoryEntry {
  return (
    isQuestion(value) && 'at' in value && typeof value.at === 'string' && 'rows' in value && 'ms' in value
  );
}
