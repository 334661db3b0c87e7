import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem, getJson, isAbort, type QueryValues, session } from './api.ts';
import { useStore } from './store.ts';

export interface AnswerState<Answer> {
  /** The newest answer. It stays while a refresh is running or after one failed. Null at first and after a change of path or query. */
  readonly answer: Answer | null;
  readonly problem: ApiProblem | null;
  readonly isLoading: boolean;
  /** Sends the request again now. */
  reload(): void;
}

interface UseAnswerOptions {
  readonly query?: QueryValues;
  /** Repeats the request this long after each answer, or after the Retry-After of a problem, while the tab is visible. */
  readonly refreshMs?: number;
}

/**
 * The answer of a GET below /v0 for a component: `useAnswer<Flows>('/flows', { query: { limit: 20 } })`. A path of null sends nothing.
 * A change of path, query or key aborts the request and sends the new one.
 */
export function useAnswer<Answer>(
  path: string | null,
  { query = {}, refreshMs }: UseAnswerOptions = {},
): AnswerState<Answer> {
  const { key } = useStore(session);
  const question = path === null ? null : JSON.stringify([path, query]);
  const [state, setState] = useState<Answered<Answer>>({ question, answer: null, problem: null });
  const [turn, setTurn] = useState(0);
  const [isLoading, setLoading] = useState(path !== null);
  const queryNow = useRef(query);
  queryNow.current = query;
  // `question` stands for path and query; `key` and `turn` are only triggers.
  useEffect(() => {
    if (path === null) return;
    setLoading(true);
    return poll<Answer>({
      ask: (signal) => getJson<Answer>(path, { query: queryNow.current, signal }),
      refreshMs,
      onAnswer: (answer) => {
        setState({ question, answer, problem: null });
        setLoading(false);
      },
      onProblem: (problem) => {
        // A failed refresh keeps the answer of the same question.
        setState((before) => ({
          question,
          answer: before.question === question ? before.answer : null,
          problem,
        }));
        setLoading(false);
      },
    });
  }, [question, key, turn, refreshMs]);
  const isCurrent = state.question === question;
  return {
    answer: isCurrent ? state.answer : null,
    problem: isCurrent ? state.problem : null,
    isLoading: isLoading || !isCurrent,
    reload: useCallback(() => setTurn((before) => before + 1), []),
  };
}

interface Answered<Answer> {
  readonly question: string | null;
  readonly answer: Answer | null;
  readonly problem: ApiProblem | null;
}

interface PollOptions<Answer> {
  ask(signal: AbortSignal): Promise<Answer>;
  readonly refreshMs: number | undefined;
  onAnswer(answer: Answer): void;
  onProblem(problem: ApiProblem): void;
}

/** Sends the request once, or repeatedly while the tab is visible. The returned function stops it and aborts a running request. */
export function poll<Answer>({ ask, refreshMs, onAnswer, onProblem }: PollOptions<Answer>): () => void {
  const stopping = new AbortController();
  const { signal } = stopping;
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
    timer = setTimeout(askWhenVisible, Math.max(refreshMs, (problem?.retryAfterSeconds ?? 0) * 1_000));
  };
  // A hidden tab sends nothing; it asks again as soon as it is visible.
  const askWhenVisible = (): void => {
    if (document.visibilityState !== 'hidden') void askNow();
  };
  if (refreshMs !== undefined) document.addEventListener('visibilitychange', askWhenVisible);
  void askNow();
  return () => {
    stopping.abort();
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', askWhenVisible);
  };
}

/** Null where there was an answer, or the request was aborted. */
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
