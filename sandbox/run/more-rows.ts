import {
  EngineError,
  type Guest,
  type GuestQuery,
  type GuestResult,
} from '../../clickhouse/engine/engine.ts';

/** Whether a file has all rows of its query: a file that has as many as it may have cannot be shortened by one that shows more. */
export interface FileResult extends GuestResult {
  readonly hasMore: boolean;
}

interface Asked {
  readonly guest: Pick<Guest, 'query'>;
  /** The query, with its text before conversions for a file. */
  readonly asked: GuestQuery;
  readonly until: AbortSignal;
}

/**
 * Asks for the first row behind the file where only that shows it, in the time that the query has left. Of the row nothing is read:
 * the engine computes only the columns that decide whether it is there.
 */
export async function withMore(answer: GuestResult, { guest, asked, until }: Asked): Promise<FileResult> {
  const { figures } = answer;
  const { text, maxRows, maxSeconds, queryId } = asked;
  if (figures.resultRows < maxRows) return { ...answer, hasMore: false };
  const secondsLeft = Math.max(1, Math.floor(maxSeconds - figures.elapsedMs / 1_000));
  const next: GuestQuery = {
    ...asked,
    name: 'sql-more-rows',
    // The engine answers before it forgets the id, and refuses a second statement with the same one.
    queryId: `${queryId}-more`,
    text: `SELECT 1 FROM (${text}) AS __exported OFFSET ${maxRows}`,
    format: 'CSV',
    maxRows: 1,
    maxSeconds: secondsLeft,
  };
  try {
    const more = await guest.query(next, until);
    more.body.resume();
    const { elapsedMs, readRows, readBytes } = more.figures;
    return {
      ...answer,
      figures: {
        ...figures,
        elapsedMs: figures.elapsedMs + elapsedMs,
        readRows: figures.readRows + readRows,
        readBytes: figures.readBytes + readBytes,
      },
      hasMore: more.figures.resultRows > 0,
    };
  } catch (error) {
    // The file is whole in itself: where the time does not suffice it counts as one with more rows behind it.
    if (error instanceof EngineError && !until.aborted) return { ...answer, hasMore: true };
    answer.body.destroy();
    throw error;
  }
}
