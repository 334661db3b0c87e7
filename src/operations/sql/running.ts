import { type Static, Type } from '@sinclair/typebox';
import { EngineError, type QueryProgress } from '../../../clickhouse/engine/engine.ts';
import { runIdOf } from '../../../sandbox/sandbox.ts';
import type { JobProgress } from '../../jobs/jobs.ts';
import { asUnavailable } from '../ask.ts';
import { defineOperation } from '../define.ts';
import type { CallContext, OperationDeps } from '../deps.ts';
import { invalid, type Param, quoted } from '../params.ts';
import { PRICES } from '../prices.ts';
import { CountShape, orNull } from '../shapes.ts';

/** Queries that run now: how far they are, and how they are stopped. The engine knows them, so that any API process can say it. */

export const PROGRESS_FIELDS = {
  rows_read: CountShape,
  rows_estimate: orNull(
    Type.Integer({
      minimum: 0,
      description:
        'Rows that it is expected to read, as far as the engine knows by now: a join or a subquery may add more. Null where that is not known.',
    }),
  ),
  percent: orNull(
    Type.Number({ minimum: 0, maximum: 100, description: 'Of the estimate, below 100 until it ends.' }),
  ),
  seconds: Type.Number({ minimum: 0, description: 'Engine time so far.' }),
  memory_bytes: Type.Integer({
    minimum: 0,
    description: 'Memory that it takes; of one that has ended, the most.',
  }),
};

const ProgressShape = Type.Object(PROGRESS_FIELDS, { title: 'SqlProgress' });

const PERCENT_BEFORE_END = 99.9;

export function progressAnswer({
  rowsRead,
  rowsEstimate,
  seconds,
  memoryBytes = 0,
}: Omit<JobProgress, 'usedQu'>): Static<typeof ProgressShape> {
  const share = rowsEstimate === null || rowsEstimate === 0 ? null : (rowsRead / rowsEstimate) * 100;
  return {
    rows_read: rowsRead,
    rows_estimate: rowsEstimate,
    percent: share === null ? null : Math.min(PERCENT_BEFORE_END, Math.round(share * 10) / 10),
    seconds,
    memory_bytes: memoryBytes,
  };
}

export function progressOf({
  readRows,
  totalRows,
  elapsedMs,
  memoryBytes,
}: Omit<QueryProgress, 'readBytes' | 'cpuMs'>): Omit<JobProgress, 'usedQu'> {
  return {
    rowsRead: readRows,
    rowsEstimate: totalRows === 0 ? null : totalRows,
    seconds: Math.round(elapsedMs / 100) / 10,
    // The engine counts what a thread gives back before what it took: the sum may be below 0 for a moment.
    memoryBytes: Math.max(0, memoryBytes),
  };
}

const RunningQueryShape = Type.Object(
  {
    id: Type.String({ description: 'As it was asked for.' }),
    progress: orNull(ProgressShape, {
      description:
        'Null where no query of this id runs: it waits for its turn, has ended, or was not sent with the key of your organization.',
    }),
  },
  { title: 'RunningQuery' },
);

const EXAMPLE: Static<typeof RunningQueryShape> = {
  id: '0d8f1c2b-7b0c-4a5e-9d7e-6f0a3a494a53',
  progress: {
    rows_read: 4_194_304,
    rows_estimate: 10_000_000,
    percent: 41.9,
    seconds: 7.2,
    memory_bytes: 268_435_456,
  },
};

const ID = /^[A-Za-z0-9._:-]{1,128}$/;

const idParam: Param<string> = {
  in: 'path',
  description:
    'The `X-Request-Id` that the query was sent with, or the `query_id` of the ClickHouse interface.',
  required: true,
  schema: Type.String({ pattern: ID.source }),
  example: EXAMPLE.id,
  read: (raw, name) => {
    if (typeof raw === 'string' && ID.test(raw)) return raw;
    throw invalid(name, `${name} must be the X-Request-Id of a query, not ${quoted(raw)}.`);
  },
};

const WHICH =
  'A query is found by the `X-Request-Id` that you sent it with, with any key of the organization that sent it. A run that `max_age` shares with other callers has no such id.';

/** Addresses are no scope: callers of one address may be strangers, and ids such as `1` are not secret. */
function runIdFor(id: string, { caller, callerName }: CallContext): string | null {
  return caller.organization === null ? null : runIdOf(callerName, id);
}

async function running(
  id: string,
  { sql }: OperationDeps,
  context: CallContext,
  stop: boolean,
): Promise<Static<typeof RunningQueryShape>> {
  const runId = runIdFor(id, context);
  if (runId === null) return { id, progress: null };
  try {
    const now = await sql.progress(runId);
    if (stop && now !== null) await sql.cancel(runId);
    return { id, progress: now === null ? null : progressAnswer(progressOf(now)) };
  } catch (error) {
    throw error instanceof EngineError ? asUnavailable('sql', error) : error;
  }
}

export const getRunningQuery = defineOperation({
  id: 'getRunningQuery',
  wire: {
    path: '/sql/running/{id}',
    params: { id: idParam },
    output: RunningQueryShape,
    caching: 'no-store',
  },
  words: {
    summary: 'How far a running query is',
    description: `Rows read of the rows to read, time and memory of a query that runs now. ${WHICH} Free.`,
    tool: null,
    example: EXAMPLE,
  },
  // One short statement; an overloaded service must still say what runs, and stop it.
  money: { price: PRICES.free, load: 'none' },
  access: { allowedAs: 'runSql' },
  run: ({ id }, deps: OperationDeps, context) => running(id, deps, context, false),
});

export const cancelRunningQuery = defineOperation({
  id: 'cancelRunningQuery',
  wire: {
    method: 'DELETE',
    path: '/sql/running/{id}',
    params: { id: idParam },
    output: RunningQueryShape,
  },
  words: {
    summary: 'Cancel a running query',
    description: `Stops it within a second: its own call is answered with \`query_failed\`, the reason \`cancelled\` and what was charged for its time until then. ${WHICH} \`progress\` is that of the moment before; null: nothing was stopped. Closing the connection of its call stops a query too, also one that waits for its turn. Free.`,
    tool: null,
    example: EXAMPLE,
  },
  money: { price: PRICES.free, load: 'none' },
  access: { allowedAs: 'runSql' },
  run: ({ id }, deps: OperationDeps, context) => running(id, deps, context, true),
});
