import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../core/clock.ts';
import { parseSnapshot, type Snapshot } from '../../../core/domain/snapshot.ts';
import { Failure } from '../../../core/errors.ts';
import type { Accepted } from '../../../sandbox/judge/inspect.ts';
import { SandboxBusy, type SqlSandbox } from '../../../sandbox/sandbox.ts';
import type { JobProgress, SqlJob } from '../../jobs/jobs.ts';
import type { JobControl, JobResult, JobWork } from '../../jobs/runner.ts';
import { checkAsOf, metaNow } from './as-of.ts';
import { boundsOf, unitsFor } from './bounds.ts';
import { type Buyer, judged, rejected } from './failures.ts';
import { keptSqlOf, type SqlDeps, unitsForKept } from './kept.ts';
import { warningsOf } from './shapes.ts';

/** What a worker does for a job: judges the text, estimates it, runs it and keeps its result. */

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
  const progress = openProgress(sandbox, control);
  void progress.estimate({ accepted, parameters, caller: callerName });
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
              job: { seconds: bounds.seconds, onBegun: progress.begin },
            },
            control.signal,
          )
          .catch((error: unknown) => {
            if (error instanceof SandboxBusy && error.reason === 'places') throw error;
            return rejected(error, buyer, { sql: deps.sql, callerName });
          }),
      control.signal,
    );
    progress.report(obtained.kept.rowsRead, obtained.kept.engineMs);
    const ownQu = unitsFor(obtained.kept, buyer.budget);
    const { id: resultId, rows } = obtained.kept;
    return { resultId, rows, usedQu: await unitsForKept(obtained, ownQu, organizationId, kept) };
  } finally {
    progress.close();
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

type Estimated = Parameters<SqlSandbox['estimate']>[0];

function openProgress(sandbox: SqlSandbox, control: JobControl) {
  let estimate: JobProgress['rowsEstimate'] = null;
  let timer: NodeJS.Timeout | undefined;
  let [rowsRead, engineMs] = [0, 0];
  const report = (rows: number, ms: number): void => {
    [rowsRead, engineMs] = [rows, ms];
    control.onProgress({ rowsRead, rowsEstimate: estimate, seconds: Math.round(engineMs / 100) / 10 });
  };
  return {
    report,
    estimate: async (query: Estimated): Promise<void> => {
      const found = await sandbox.estimate(query, control.signal).catch(() => null);
      estimate = found?.rows ?? null;
      report(rowsRead, engineMs);
    },
    begin: (queryId: string): void => {
      clearInterval(timer);
      timer = setInterval(() => {
        // Not known for a moment: the next look will say.
        sandbox.progress(queryId).then(
          (now) => now !== null && timer !== undefined && report(now.readRows, now.elapsedMs),
          () => undefined,
        );
      }, LOOK_MS).unref();
    },
    close: (): void => {
      clearInterval(timer);
      timer = undefined;
    },
  };
}
