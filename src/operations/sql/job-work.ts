import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../core/clock.ts';
import { parseSnapshot, type Snapshot } from '../../../core/domain/snapshot.ts';
import { Failure } from '../../../core/errors.ts';
import type { Accepted } from '../../../sandbox/judge/inspect.ts';
import { runIdOf, SandboxBusy, type SqlSandbox } from '../../../sandbox/sandbox.ts';
import type { SqlJob } from '../../jobs/jobs.ts';
import type { JobControl, JobResult, JobWork } from '../../jobs/runner.ts';
import { checkAsOf, metaNow } from './as-of.ts';
import { boundsOf, unitsFor } from './bounds.ts';
import { type Buyer, judged, rejected } from './failures.ts';
import { keptSqlOf, type SqlDeps, unitsForKept } from './kept.ts';
import { progressOf } from './running.ts';
import { warningsOf } from './shapes.ts';

/** What a worker does for a job: judges the text, runs it, reports how far it is, and keeps its result. */

/** Between two looks at a running query. */
const LOOK_MS = 1_000;

export function createJobWork(deps: SqlDeps, sandbox: SqlSandbox): JobWork {
  return async (job, control) => {
    const { request, organizationId } = job;
    const text = {
      ...{ text: request.sql, parameters: request.parameters, caller: request.callerName },
      ownTables: () => deps.accounts.tables.list(organizationId),
    };
    const accepted = await whenFree(() => judged(text, deps.sql), control.signal);
    const asOf = snapshotOf(job);
    // It was answerable when the job was queued, and may be too old by now.
    await checkAsOf(asOf, accepted, deps);
    const buyer: Buyer = {
      budget: { maxQu: request.maxQu, seconds: request.seconds },
      hasKey: true,
      text: request.sql,
      parameters: request.parameters,
    };
    return runQuery({ job, accepted, asOf, buyer }, { deps, sandbox, clock: deps.clock }, control);
  };
}

interface Work {
  readonly job: SqlJob;
  readonly accepted: Accepted;
  readonly asOf: Snapshot | undefined;
  readonly buyer: Buyer;
}

function snapshotOf({ request }: SqlJob): Snapshot | undefined {
  if (request.asOf === undefined) return undefined;
  const snapshot = parseSnapshot(request.asOf);
  if (snapshot === null) throw new Error('a job is asked of a snapshot that cannot be read');
  return snapshot;
}

interface WorkDeps {
  readonly deps: SqlDeps;
  readonly sandbox: SqlSandbox;
  readonly clock: Clock;
}

async function runQuery(
  { job, accepted, asOf, buyer }: Work,
  { deps, sandbox }: WorkDeps,
  control: JobControl,
): Promise<JobResult> {
  const { organizationId, request } = job;
  const { parameters, tier, maxRows, mustBeWhole, maxAgeSeconds, plan, callerName } = request;
  const kept = keptSqlOf(deps);
  const bounds = boundsOf(accepted.settings ?? [], {
    budget: buyer.budget,
    maxRows: mustBeWhole === true ? undefined : maxRows,
    rowsMax: maxRows,
  });
  const meta = await metaNow(deps, asOf);
  const warnings = await warningsOf(accepted, deps, meta);
  // No id that a caller sends has a space: a job is found by those alone who may see it.
  const runId = runIdOf(callerName, `job ${job.id} ${job.attempt}`);
  const leave = watchProgress(runId, sandbox, control);
  try {
    const obtained = await whenFree(
      () =>
        kept
          .obtain(
            {
              accepted,
              parameters,
              tier,
              maxRows: bounds.maxRows,
              mustBeWhole: bounds.mustBeWhole,
              maxAgeSeconds,
              owner: { kind: 'organization', id: organizationId, plan },
              callerName,
              meta,
              warnings,
              ...(asOf === undefined ? {} : { asOf }),
              job: { seconds: bounds.seconds },
              runId,
            },
            control.signal,
          )
          .catch((error: unknown) => {
            if (error instanceof SandboxBusy && error.reason === 'places') throw error;
            return rejected(error, buyer, { sql: deps.sql, callerName });
          }),
      control.signal,
    );
    const { rowsRead, engineMs, memoryBytes } = obtained.kept;
    control.onProgress(
      progressOf({ readRows: rowsRead, totalRows: rowsRead, elapsedMs: engineMs, memoryBytes }),
    );
    const ownQu = unitsFor(obtained.kept, buyer.budget);
    const { id: resultId, rows } = obtained.kept;
    return { resultId, rows, usedQu: await unitsForKept(obtained, ownQu, organizationId, kept) };
  } finally {
    leave();
  }
}

/** A job waits for its place as long as it takes: no connection waits with it. */
async function whenFree<Answer>(call: () => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const busy = error instanceof SandboxBusy ? error : asBusy(error);
      if (busy === null || busy.reason !== 'places' || signal.aborted) throw error;
      await sleep(busy.retryAfterSeconds * 1_000, undefined, { signal }).catch(() => {
        throw error;
      });
    }
  }
}

function asBusy(error: unknown): SandboxBusy | null {
  return error instanceof Failure && error.context.cause instanceof SandboxBusy ? error.context.cause : null;
}

/** Reports once a second how far the run is, until the function that it gives back is called. */
function watchProgress(runId: string, sandbox: SqlSandbox, control: JobControl): () => void {
  let isOver = false;
  const look = (): Promise<void> =>
    sandbox.progress(runId).then(
      (now) => {
        if (now !== null && !isOver) control.onProgress(progressOf(now));
      },
      () => undefined, // not known for a moment: the next look will say
    );
  const timer = setInterval(look, LOOK_MS).unref();
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}
