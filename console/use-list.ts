import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem, getJson, isAbort, type QueryValues } from './api.ts';
import { offsetOf, pick } from './routes.ts';
import { useAnswer } from './use-answer.ts';

/** Lists of the API, read page by page, as the `DataTable` component takes them. */

interface ListMeta {
  /** Of every list: without a member in common TypeScript takes an answer for another thing. */
  readonly as_of?: string;
  readonly dataset_last_written_at?: string | null;
}

interface CursorAnswer {
  readonly next_before: string | null;
  /** Of lists that can be read forward. */
  readonly prev_after?: string | null;
  readonly meta: ListMeta;
}

export interface CursorList<Row> {
  /** The rows of all pages read so far; null before the first page. */
  readonly rows: readonly Row[] | null;
  readonly meta: ListMeta | null;
  /** Of the newest request, for the first page or a further one. */
  readonly problem: ApiProblem | null;
  readonly paging: { readonly hasMore: boolean; readonly isLoading: boolean; more(): void };
  /** The cursor of rows newer than the first page; null where there is none. */
  readonly after: string | null;
  reload(): void;
}

/** The pages after the first. */
interface Further<Row> {
  /** The first page that these continue: when another first page is read, they are dropped. */
  readonly of: unknown;
  readonly rows: readonly Row[];
  readonly next: string | null;
  readonly problem: ApiProblem | null;
  readonly isLoading: boolean;
}

/** A list with `next_before`; `more()` reads one more page. A path of null reads nothing. */
export function useCursorList<Answer extends CursorAnswer, Row>(
  path: string | null,
  query: QueryValues,
  rowsOf: (answer: Answer) => readonly Row[],
): CursorList<Row> {
  const first = useAnswer<Answer>(path, { query });
  const { answer } = first;
  const [further, setFurther] = useState<Further<Row> | null>(null);
  const reading = useRef<AbortController | null>(null);
  useEffect(() => () => reading.current?.abort(), [answer]);

  const now = further !== null && further.of === answer ? further : null;
  const next = now === null ? (answer?.next_before ?? null) : now.next;
  const more = (): void => {
    if (path === null || answer === null || next === null || now?.isLoading) return;
    const before = { of: answer, rows: now?.rows ?? [], next, problem: null, isLoading: false };
    reading.current = new AbortController();
    setFurther({ ...before, isLoading: true });
    getJson<Answer>(path, { query: { ...query, before: next }, signal: reading.current.signal }).then(
      (page) => setFurther({ ...before, rows: [...before.rows, ...rowsOf(page)], next: page.next_before }),
      (error: unknown) => {
        if (error instanceof ApiProblem) setFurther({ ...before, problem: error });
        else if (!isAbort(error)) throw error;
      },
    );
  };

  return {
    rows: answer === null ? null : [...rowsOf(answer), ...(now?.rows ?? [])],
    meta: answer?.meta ?? null,
    problem: now?.problem ?? first.problem,
    paging: { hasMore: next !== null, isLoading: first.isLoading || (now?.isLoading ?? false), more },
    after: answer?.prev_after ?? null,
    reload: first.reload,
  };
}

interface OffsetAnswer {
  readonly next_offset: number | null;
  readonly meta: ListMeta;
}

interface OffsetQuestion {
  /** Path of the page below /console. */
  readonly path: string;
  /** Path of the API below /v0, where it is another one. */
  readonly api?: string;
  readonly query: URLSearchParams;
  /** Parameters of the address that are sent to the API. */
  readonly filters: readonly string[];
}

const OFFSET_PAGE_ROWS = 50;

/** A list with `next_offset`; the page that is read is the `offset` of the address. */
export function useOffsetList<Answer extends OffsetAnswer>({
  path,
  api = path,
  query,
  filters,
}: OffsetQuestion) {
  const chosen = pick(query, filters);
  const limit = OFFSET_PAGE_ROWS;
  const { answer, problem, reload } = useAnswer<Answer>(api, {
    query: { ...chosen, offset: offsetOf(query), limit },
  });
  return {
    answer,
    list: {
      meta: answer?.meta ?? null,
      problem,
      reload,
      isFiltered: Object.keys(chosen).length > 0,
      paging: { path, query, limit, nextOffset: answer?.next_offset ?? null },
    },
  };
}
