import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem, isAbort, noteBalance, post, readJson, refreshAccount } from '../api.ts';
import { announce } from '../components/states.tsx';
import { countText, millisecondsText } from '../format.ts';
import { createStore } from '../store.ts';
import type { SqlResult } from '../wire.ts';
import type { SqlQuestion } from './query-text.ts';

/** The running query, of which there is at most one, and the history of queries in this browser. */

export type RunState =
  | { readonly phase: 'idle' }
  | { readonly phase: 'running'; readonly startedAtMs: number }
  | { readonly phase: 'done'; readonly result: SqlResult; readonly question: SqlQuestion }
  | { readonly phase: 'failed'; readonly problem: ApiProblem }
  | { readonly phase: 'cancelled'; readonly afterMs: number };

interface Runner {
  readonly state: RunState;
  run(question: SqlQuestion, rowsMax: number): void;
  /** Closes the connection; the engine stops, and the time used is charged. */
  cancel(): void;
}

/** The API records the charge shortly after the connection is closed. */
const CHARGED_AFTER_MS = 1_500;

export function useRunner(): Runner {
  const [state, setState] = useState<RunState>({ phase: 'idle' });
  const current = useRef<AbortController | null>(null);
  const leave = useCallback(() => current.current?.abort(), []);
  useEffect(() => leave, [leave]);
  const run = useCallback((question: SqlQuestion, rowsMax: number) => {
    current.current?.abort();
    const mine = new AbortController();
    current.current = mine;
    const startedAtMs = Date.now();
    setState({ phase: 'running', startedAtMs });
    announce('Query started');
    void ask(question, rowsMax, mine.signal).then((outcome) => {
      if (current.current !== mine) return;
      current.current = null;
      const ms = Date.now() - startedAtMs;
      setState(stateOf(outcome, question, ms));
      settle(outcome, question, { startedAtMs, ms });
    });
  }, []);
  return { state, run, cancel: leave };
}

type RunOutcome = { readonly result: SqlResult } | { readonly problem: ApiProblem } | 'cancelled';

async function ask(
  { sql, tier, params }: SqlQuestion,
  rowsMax: number,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const body = { sql, tier, params, format: 'json_compact', max_rows: rowsMax };
  try {
    const response = await post('/sql', body, signal);
    return { result: await readJson<SqlResult>(response) };
  } catch (error) {
    if (isAbort(error)) return 'cancelled';
    if (error instanceof ApiProblem) return { problem: error };
    throw error;
  }
}

function stateOf(outcome: RunOutcome, question: SqlQuestion, ms: number): RunState {
  if (outcome === 'cancelled') return { phase: 'cancelled', afterMs: ms };
  if ('problem' in outcome) return { phase: 'failed', problem: outcome.problem };
  return { phase: 'done', result: outcome.result, question };
}

/** Updates the history and the balance, and announces the outcome. */
function settle(
  outcome: RunOutcome,
  question: SqlQuestion,
  { startedAtMs, ms }: { readonly startedAtMs: number; readonly ms: number },
): void {
  const entry = { ...question, at: `${new Date(startedAtMs).toISOString().slice(0, 19)}Z`, ms };
  if (outcome === 'cancelled') {
    announce(`Cancelled after ${millisecondsText(ms)}`);
    remember({ ...entry, failed: 'cancelled', rows: 0, chargedQu: null });
    setTimeout(() => void refreshAccount(), CHARGED_AFTER_MS);
    return;
  }
  if ('problem' in outcome) {
    const { code, usage } = outcome.problem.body;
    if (usage?.balance != null) noteBalance(usage.balance);
    remember({ ...entry, failed: code, rows: 0, chargedQu: usage?.units_charged ?? 0 });
    return;
  }
  const { row_count: rows, duration_ms: engineMs, usage } = outcome.result;
  if (usage.balance !== null) noteBalance(usage.balance);
  announce(
    `${countText(rows)} rows in ${millisecondsText(engineMs)}, ${usage.units_charged} Query Units charged`,
  );
  remember({ ...entry, failed: null, rows, chargedQu: usage.units_charged });
}

/** A query that was run. The history never leaves the browser. */
export interface HistoryEntry extends SqlQuestion {
  readonly at: string;
  /** `cancelled`, the code of a problem, or null for a success. */
  readonly failed: string | null;
  readonly rows: number;
  readonly ms: number;
  readonly chargedQu: number | null;
}

const STORED_AS = 'six.sql.history';
const LAST_STORED_AS = 'six.sql.last';
const ENTRIES_MAX = 100;

export const sqlHistory = createStore<readonly HistoryEntry[]>(readList());

function remember(entry: HistoryEntry): void {
  const others = sqlHistory.get().filter(({ sql }) => sql !== entry.sql);
  store([entry, ...others].slice(0, ENTRIES_MAX));
}

export function forgetHistory(): void {
  store([]);
}

/** Stores the query in the editor for the next visit. */
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

/** Storage may be full or hold data of an older version. Neither may stop a query. */
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
