import { useEffect, useState } from 'preact/hooks';
import { ApiProblem, isAbort, post, readJson } from '../api.ts';
import type { SqlEstimate } from '../wire.ts';
import type { SqlQuestion } from './query-text.ts';

/** The estimated cost of a query, read while it is written. Estimates are free and need no key. */

export type EstimateState =
  | { readonly phase: 'none' }
  /** Values of placeholders are missing. */
  | { readonly phase: 'unfilled' }
  | { readonly phase: 'asking' }
  /** `sql` is the text that it is about: the editor may hold a newer one. */
  | { readonly phase: 'known'; readonly estimate: SqlEstimate; readonly sql: string }
  | { readonly phase: 'refused'; readonly problem: ApiProblem; readonly sql: string };

/** The pause after the last key before an estimate is read. */
const QUIET_MS = 450;

/** A query, and how many rows of its result are kept at most. */
interface AskedQuery extends SqlQuestion {
  readonly rowsMax: number;
}

export function useEstimate({ sql, tier, params, rowsMax }: AskedQuery, isPaused: boolean): EstimateState {
  const [state, setState] = useState<EstimateState>({ phase: 'none' });
  const values = JSON.stringify(params);
  useEffect(() => {
    if (isPaused) return;
    if (sql.trim() === '') {
      setState({ phase: 'none' });
      return;
    }
    const leaving = new AbortController();
    setState((before) => (before.phase === 'known' ? before : { phase: 'asking' }));
    const timer = setTimeout(() => {
      const asked = { sql, tier, rowsMax, params: JSON.parse(values) as SqlQuestion['params'] };
      void ask(asked, leaving.signal).then((next) => {
        if (next !== null) setState(next);
      });
    }, QUIET_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [sql, tier, values, rowsMax, isPaused]);
  return state;
}

async function ask({ rowsMax, ...question }: AskedQuery, signal: AbortSignal): Promise<EstimateState | null> {
  try {
    const response = await post('/sql', { ...question, max_rows: rowsMax, explain_only: true }, signal);
    return { phase: 'known', estimate: await readJson<SqlEstimate>(response), sql: question.sql };
  } catch (error) {
    if (isAbort(error)) return null;
    if (error instanceof ApiProblem) return { phase: 'refused', problem: error, sql: question.sql };
    throw error;
  }
}
