import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { noteBalance, refreshAccount } from '../account.ts';
import { announce } from '../announce.tsx';
import { post, readWhole } from '../api.ts';
import { countText, millisecondsText } from '../format.ts';
import { ApiProblem, isAbort } from '../problem.ts';
import { remember } from './history.ts';
import type { SqlQuestion, SqlResult } from './wire.ts';

/** One run of a query at a time, from its start to its answer, its failure or its cancellation. */

export type RunState =
  | { readonly phase: 'idle' }
  | { readonly phase: 'running'; readonly startedAtMs: number }
  | { readonly phase: 'done'; readonly result: SqlResult; readonly question: SqlQuestion }
  | { readonly phase: 'failed'; readonly problem: ApiProblem }
  | { readonly phase: 'cancelled'; readonly afterMs: number };

export interface Runner {
  readonly state: RunState;
  run(question: SqlQuestion, rowsMax: number): void;
  /** Closes the connection; the engine stops, and the time used is charged. */
  cancel(): void;
}

/** What the engine spent is written down a moment after the connection is closed. */
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
    // The declared answer of our own API, of the same version as this page.
    const result = (await readWhole(response, (whole) => whole.json())) as SqlResult;
    return { result };
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

/** Tells screen readers, the balance and the history. */
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
