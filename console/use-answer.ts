import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { getJson, type QueryValues } from './api.ts';
import { ApiProblem, isAbort } from './problem.ts';
import { session } from './session.ts';
import { useStore } from './store.ts';

export interface AnswerState<Answer> {
  /** The newest answer; stays while the next one is fetched, and beside a problem of a refresh. Null at first and after a change of the question. */
  readonly answer: Answer | null;
  readonly problem: ApiProblem | null;
  readonly isLoading: boolean;
  /** Asks again now. */
  reload(): void;
}

export interface UseAnswerOptions {
  readonly query?: QueryValues;
  /** Asks again and again while the tab is seen, this long after each answer. A problem with Retry-After waits that long. */
  readonly refreshMs?: number;
}

/**
 * The answer of a GET below /v0 while the component is shown: `useAnswer<Flows>('/flows', { query: { limit: 20 } })`. Null as path
 * asks nothing. Asks again when path, query or key change; a request whose question is gone is aborted.
 */
export function useAnswer<Answer>(
  path: string | null,
  { query = {}, refreshMs }: UseAnswerOptions = {},
): AnswerState<Answer> {
  const { key } = useStore(session);
  const question = path === null ? null : JSON.stringify([path, query, key === null]);
  const [state, setState] = useState<{ question: string | null; answer: Answer | null; problem: ApiProblem | null }>({
    question,
    answer: null,
    problem: null,
  });
  const [turn, setTurn] = useState(0);
  const [isLoading, setLoading] = useState(path !== null);
  const queryNow = useRef(query);
  queryNow.current = query;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `question` stands for path and query, `turn` asks again
  useEffect(() => {
    if (path === null) return;
    const leaving = new AbortController();
    let timer: number | undefined;
    setLoading(true);
    const ask = async (): Promise<void> => {
      const { signal } = leaving;
      let waitMs = refreshMs;
      try {
        const answer = await getJson<Answer>(path, { query: queryNow.current, signal });
        setState({ question, answer, problem: null });
      } catch (error) {
        if (isAbort(error) || signal.aborted) return;
        if (!(error instanceof ApiProblem)) throw error;
        const problem = error;
        setState((before) => ({ question, answer: before.question === question ? before.answer : null, problem }));
        if (waitMs !== undefined) waitMs = Math.max(waitMs, (problem.retryAfterSeconds ?? 0) * 1_000);
      }
      setLoading(false);
      if (waitMs !== undefined) timer = window.setTimeout(() => void askWhenSeen(), waitMs);
    };
    const askWhenSeen = async (): Promise<void> => {
      if (document.visibilityState === 'hidden') return; // the return to the tab asks
      await ask();
    };
    const onSeen = (): void => {
      if (refreshMs === undefined || document.visibilityState === 'hidden') return;
      clearTimeout(timer);
      void ask();
    };
    document.addEventListener('visibilitychange', onSeen);
    void ask();
    return () => {
      leaving.abort();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onSeen);
    };
  }, [question, key, turn, refreshMs]);
  const isOfNow = state.question === question;
  return {
    answer: isOfNow ? state.answer : null,
    problem: isOfNow ? state.problem : null,
    isLoading: isLoading || !isOfNow,
    reload: useCallback(() => setTurn((before) => before + 1), []),
  };
}
