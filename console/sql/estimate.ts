import { useEffect, useState } from 'preact/hooks';
import { post, readWhole } from '../api.ts';
import { ApiProblem, isAbort } from '../problem.ts';
import type { SqlEstimate, SqlQuestion } from './wire.ts';

/** What a query would read and cost, asked while it is written: free, and needs no key. */

export type EstimateState =
  | { readonly phase: 'none' }
  | { readonly phase: 'asking' }
  | { readonly phase: 'known'; readonly estimate: SqlEstimate }
  | { readonly phase: 'refused'; readonly problem: ApiProblem };

/** After the last key: long enough for a word, short enough to be there when the hand reaches for Enter. */
const QUIET_MS = 450;

export function useEstimate({ sql, tier, params }: SqlQuestion, isPaused: boolean): EstimateState {
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
      void ask({ sql, tier, params: JSON.parse(values) as SqlQuestion['params'] }, leaving.signal).then(
        (next) => {
          if (next !== null) setState(next);
        },
      );
    }, QUIET_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [sql, tier, values, isPaused]);
  return state;
}

async function ask(question: SqlQuestion, signal: AbortSignal): Promise<EstimateState | null> {
  try {
    const response = await post('/sql', { ...question, explain_only: true }, signal);
    // The declared answer of our own API, of the same version as this page.
    return { phase: 'known', estimate: (await readWhole(response, (whole) => whole.json())) as SqlEstimate };
  } catch (error) {
    if (isAbort(error)) return null;
    if (error instanceof ApiProblem) return { phase: 'refused', problem: error };
    throw error;
  }
}
