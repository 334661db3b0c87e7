import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { getJson, type QueryValues } from '../api.ts';
import { ApiProblem, isAbort } from '../problem.ts';
import { useAnswer } from '../use-answer.ts';
import type { Meta } from './wire.ts';

interface CursorAnswer {
  readonly next_before: string | null;
  readonly meta: Meta;
}

export interface Pages<Row> {
  /** All pages so far, in order; null before the first. */
  readonly rows: readonly Row[] | null;
  readonly meta: Meta | null;
  /** Of the newest request: the first page, or a further one. */
  readonly problem: ApiProblem | null;
  readonly isLoading: boolean;
  readonly hasMore: boolean;
  more(): void;
  reload(): void;
}

interface Further<Row> {
  /** The first page that these continue: pages of another question are dropped. */
  readonly of: unknown;
  readonly rows: readonly Row[];
  readonly next: string | null;
  readonly problem: ApiProblem | null;
  readonly isLoading: boolean;
}

/** A list that continues by `next_before`, one page more each time it is asked for. */
export function usePages<Answer extends CursorAnswer, Row>(
  path: string | null,
  query: QueryValues,
  rowsOf: (answer: Answer) => readonly Row[],
): Pages<Row> {
  const first = useAnswer<Answer>(path, { query });
  const { answer } = first;
  const [further, setFurther] = useState<Further<Row> | null>(null);
  const leaving = useRef<AbortController | null>(null);
  useEffect(() => () => leaving.current?.abort(), [answer]);

  const now = further !== null && further.of === answer ? further : null;
  const next = now === null ? (answer?.next_before ?? null) : now.next;
  const more = useCallback(() => {
    if (path === null || answer === null || next === null || now?.isLoading) return;
    const before: Further<Row> = now ?? { of: answer, rows: [], next, problem: null, isLoading: false };
    leaving.current = new AbortController();
    setFurther({ ...before, problem: null, isLoading: true });
    readPage<Answer>(path, { ...query, before: next }, leaving.current.signal).then(
      (page) =>
        setFurther({
          of: answer,
          rows: [...before.rows, ...rowsOf(page)],
          next: page.next_before,
          problem: null,
          isLoading: false,
        }),
      (error: unknown) => {
        if (error instanceof ApiProblem) setFurther({ ...before, problem: error, isLoading: false });
        else if (!isAbort(error)) throw error;
      },
    );
  }, [path, query, rowsOf, answer, next, now]);

  return {
    rows: answer === null ? null : [...rowsOf(answer), ...(now?.rows ?? [])],
    meta: answer?.meta ?? null,
    problem: now?.problem ?? first.problem,
    isLoading: first.isLoading || (now?.isLoading ?? false),
    hasMore: next !== null,
    more,
    reload: first.reload,
  };
}

function readPage<Answer>(path: string, query: QueryValues, signal: AbortSignal): Promise<Answer> {
  return getJson<Answer>(path, { query, signal });
}
