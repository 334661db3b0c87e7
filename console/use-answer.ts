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
  const question = path === null ? null : JSON.stringify([path, query]);
  const [state, setState] = useState<Told<Answer>>({ question, answer: null, problem: null });
  const [turn, setTurn] = useState(0);
  const [isLoading, setLoading] = useState(path !== null);
  const queryNow = useRef(query);
  queryNow.current = query;
  // `question` stands for path and query; `key` and `turn` ask again.
  useEffect(() => {
    if (path === null) return;
    setLoading(true);
    return keepAsking<Answer>({
      ask: (signal) => getJson<Answer>(path, { query: queryNow.current, signal }),
      refreshMs,
      onAnswer: (answer) => {
        setState({ question, answer, problem: null });
        setLoading(false);
      },
      onProblem: (problem) => {
        // What was known stays beside the problem of a refresh.
        setState((before) => ({
          question,
          answer: before.question === question ? before.answer : null,
          problem,
        }));
        setLoading(false);
      },
    });
  }, [question, key, turn, refreshMs]);
  const isOfNow = state.question === question;
  return {
    answer: isOfNow ? state.answer : null,
    problem: isOfNow ? state.problem : null,
    isLoading: isLoading || !isOfNow,
    reload: useCallback(() => setTurn((before) => before + 1), []),
  };
}

interface Told<Answer> {
  readonly question: string | null;
  readonly answer: Answer | null;
  readonly problem: ApiProblem | null;
}

interface Asking<Answer> {
  ask(signal: AbortSignal): Promise<Answer>;
  readonly refreshMs: number | undefined;
  onAnswer(answer: Answer): void;
  onProblem(problem: ApiProblem): void;
}

/** Asks once, or again and again while the tab is seen; the function that it gives ends it and aborts what is under way. */
function keepAsking<Answer>({ ask, refreshMs, onAnswer, onProblem }: Asking<Answer>): () => void {
  const leaving = new AbortController();
  const { signal } = leaving;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsking = false;
  const askNow = async (): Promise<void> => {
    clearTimeout(timer);
    if (isAsking) return;
    isAsking = true;
    const problem = await askOnce(ask, signal, onAnswer);
    isAsking = false;
    if (signal.aborted) return;
    if (problem !== null) onProblem(problem);
    if (refreshMs === undefined) return;
    timer = setTimeout(askWhenSeen, Math.max(refreshMs, (problem?.retryAfterSeconds ?? 0) * 1_000));
  };
  // Nobody looks at a hidden tab; the return to it asks.
  const askWhenSeen = (): void => {
    if (document.visibilityState !== 'hidden') void askNow();
  };
  if (refreshMs !== undefined) document.addEventListener('visibilitychange', askWhenSeen);
  void askNow();
  return () => {
    leaving.abort();
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', askWhenSeen);
  };
}

/** Null when there was an answer, or nobody waits for one any more. */
async function askOnce<Answer>(
  ask: (signal: AbortSignal) => Promise<Answer>,
  signal: AbortSignal,
  onAnswer: (answer: Answer) => void,
): Promise<ApiProblem | null> {
  try {
    const answer = await ask(signal);
    if (!signal.aborted) onAnswer(answer);
    return null;
  } catch (error) {
    if (signal.aborted || isAbort(error)) return null;
    if (error instanceof ApiProblem) return error;
    throw error;
  }
}
