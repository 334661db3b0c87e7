import { createHash, randomUUID } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import { type KeyDigest, organizationName } from '../../core/domain/caller.ts';
import { hasEnded } from '../../core/domain/job.ts';
import { rightsOf } from '../../core/domain/key-right.ts';
import type { Plan, PlanId } from '../../core/domain/plan.ts';
import { REFRESH_RUNS_KEPT, refreshDelayMs } from '../../core/domain/saved-query.ts';
import { dayOf, dayStartMs } from '../../core/domain/usage.ts';
import { type ErrorCode, Failure } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { endOfKey, keyOfOrganization, type Organization } from '../accounts/account-store.ts';
import type { DueRefresh } from '../accounts/saved-query-store.ts';
import { type ControlStore, StoreUnavailable } from '../accounts/store.ts';
import { releaseHold } from '../jobs/job-charge.ts';
import type { Jobs, SqlJob } from '../jobs/jobs.ts';
import { jobBudget, sqlTierOf } from '../operations/prices.ts';
import type { SavedQuery } from '../operations/saved/definition.ts';
import type { RefreshRun } from '../operations/saved/saved-queries.ts';
import { jobHoldMs } from '../operations/sql/job-answer.ts';
import { STREAMED_ROWS_MAX } from '../operations/sql/params.ts';
import { savedQueryOf } from './saved-queries.ts';

/**
 * Keeps results of saved queries warm, in every API process. A run that is due becomes a job of the key that scheduled it, under an id
 * that follows from the query and the time: whatever process dies, a run is one job, charged once. Then the job is looked at until it has
 * ended, and the next run is set; none follows once the key may schedule no more.
 */
export interface Refresher {
  start(): void;
  stop(): Promise<void>;
}

export interface RefresherDeps {
  readonly store: Pick<ControlStore, 'refreshes' | 'saved' | 'accounts' | 'units'>;
  readonly jobs: Pick<Jobs, 'submit' | 'find' | 'hasRoom'>;
  readonly plans: Readonly<Record<PlanId, Plan>>;
  /** Of the key that the console lends to its visitors, which schedules nothing; null where it lends none. */
  readonly publicKey: KeyDigest | null;
  readonly clock: Clock;
  readonly log: Log;
}

const LIMITS = {
  pollMs: 2_000,
  /** Far above what one look takes. */
  claimMs: 30_000,
  /** Between two looks at a job. */
  lookMs: 2_000,
  /** Until a job is tried again that the plan has no room for, or a store that did not answer. */
  pauseMs: 30_000,
} as const;

/** Looks of one turn: the others wait for the next one. */
const LOOKS_MAX = 20;

export function createRefresher(deps: RefresherDeps): Refresher {
  let timer: NodeJS.Timeout | undefined;
  let turn: Promise<void> | undefined;
  const look = async (): Promise<void> => {
    for (let at = 0; at < LOOKS_MAX && timer !== undefined; at += 1) {
      const nowMs = deps.clock.nowMs();
      const due = await deps.store.refreshes.claim({ nowMs, untilMs: nowMs + LIMITS.claimMs });
      if (due === null) return;
      await refresh(deps, due);
    }
  };
  const tick = (): void => {
    turn ??= look()
      .catch((error: unknown) => {
        const waits = error instanceof StoreUnavailable;
        deps.log[waits ? 'debug' : 'error']({ err: error }, 'a refresh was left to its claim');
      })
      .finally(() => {
        turn = undefined;
      });
  };
  return {
    start: () => {
      timer = setInterval(tick, LIMITS.pollMs).unref();
      tick();
    },
    stop: async () => {
      clearInterval(timer);
      timer = undefined;
      await turn;
    },
  };
}

async function refresh(deps: RefresherDeps, due: DueRefresh): Promise<void> {
  const { store, jobs, clock } = deps;
  const { organizationId, slug } = due;
  const [record, organization] = await Promise.all([
    store.saved.find({ organizationId, slug, version: null }),
    store.accounts.findOrganization(organizationId),
  ]);
  // Removed since it was claimed.
  if (record === null || organization === null) return;
  const query = savedQueryOf(record);
  const job = await jobs.find({ id: jobIdOf(due), organizationId });
  if (job !== null && hasEnded(job.state)) return finish(deps, due, query, endingOf(job));
  if (job !== null) return store.refreshes.pause({ ...due, atMs: clock.nowMs() + LIMITS.lookMs });
  const stopped = await whyStopped(deps, query);
  if (stopped !== null) return finish(deps, due, query, stopped);
  const begun = await begin(deps, due, query, organization);
  if (begun === 'begun') return store.refreshes.pause({ ...due, atMs: clock.nowMs() + LIMITS.lookMs });
  if (begun === 'no_room') return store.refreshes.pause({ ...due, atMs: clock.nowMs() + LIMITS.pauseMs });
  return finish(deps, due, query, begun);
}

interface Ending extends Pick<RefreshRun, 'state' | 'units' | 'job' | 'code' | 'detail'> {
  /** When the next run is due, where that does not follow from the schedule; null for never. */
  readonly nextAtMs?: number | null;
}

function failed(code: ErrorCode, detail: string): Ending {
  return { state: 'failed', units: 0, job: null, code, detail };
}

/** Why no run follows: the key that scheduled the query makes no more calls, or none of this kind. Null while it may. */
async function whyStopped(
  { store, clock, publicKey }: RefresherDeps,
  { organizationId, settings: { scheduledBy = null } }: SavedQuery,
): Promise<Ending | null> {
  if (scheduledBy === null) return null;
  const key = await keyOfOrganization(store.accounts, { organizationId, keyId: scheduledBy });
  const end = key === null ? 'revoked' : endOfKey(key, clock.nowMs());
  if (end !== null) {
    const how = end === 'revoked' ? 'is revoked' : 'has expired';
    return {
      ...failed('invalid_api_key', `The key ${scheduledBy}, which scheduled it, ${how}. ${ANEW}`),
      nextAtMs: null,
    };
  }
  const maySchedule = key !== null && key.digest !== publicKey && rightsOf(key).includes('schedules');
  if (maySchedule) return null;
  return {
    ...failed(
      'key_restricted',
      `The key ${scheduledBy}, which scheduled it, may not schedule any more. ${ANEW}`,
    ),
    nextAtMs: null,
  };
}

const ANEW = 'No run follows: save the query with another key to schedule it anew.';

/** Makes the job of the run. Its units are held first; the units of a job that was there already are given back. */
async function begin(
  { store, jobs, plans, clock, log }: RefresherDeps,
  due: DueRefresh,
  { content, settings: { scheduledBy = null } }: SavedQuery,
  { plan }: Organization,
): Promise<'begun' | 'no_room' | Ending> {
  const { organizationId } = due;
  const { tier, maxQu, maxRows, sql, parameters } = content;
  if (!plans[plan].sqlTiers.includes(tier))
    return failed('upgrade_required', `The plan ${plan} does not include the tier ${tier}.`);
  // Before units are held: rows of the ledger are kept for good.
  if (!(await jobs.hasRoom({ organizationId, plan }))) return 'no_room';
  const budget = jobBudget(sqlTierOf(tier), maxQu);
  const heldAtMs = clock.nowMs();
  const hold = {
    organizationId,
    holdId: `refresh:${randomUUID()}`,
    units: budget.maxQu,
    operation: 'refreshSavedQuery',
    heldAtMs,
    overdueAtMs: heldAtMs + jobHoldMs(tier),
    keyId: scheduledBy,
  };
  const { outcome, balance, budget: perDay } = await store.units.hold(hold);
  if (outcome === 'over_budget') {
    const { unitsPerDay, used } = perDay ?? { unitsPerDay: 0, used: 0 };
    const detail = `The run holds ${hold.units} QU; the key ${scheduledBy}, which scheduled it, may use ${unitsPerDay} QU a day and has used ${used}. It is tried again when the UTC day ends.`;
    return { ...failed('key_budget_exhausted', detail), nextAtMs: dayStartMs(dayOf(heldAtMs) + 1) };
  }
  if (outcome !== 'held')
    return failed(
      'insufficient_qu',
      `The run holds ${hold.units} QU; the organization has ${balance.balance} QU free.`,
    );
  const request = {
    sql,
    parameters: Object.fromEntries(parameters.map(({ name, standard }) => [name, standard ?? ''])),
    tier,
    maxQu: budget.maxQu,
    seconds: budget.seconds,
    maxRows,
    mustBeWhole: maxRows >= STREAMED_ROWS_MAX,
    maxAgeSeconds: null,
    plan,
    callerName: organizationName(organizationId),
    surface: 'http' as const,
    hold,
  };
  const tools = { units: store.units, clock, log };
  try {
    const { isNew } = await jobs.submit({ id: jobIdOf(due), organizationId, plan, request });
    if (!isNew) await releaseHold(tools, hold, 'the run has a job already');
    return 'begun';
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'rate_limited') throw error;
    await releaseHold(tools, hold, 'the plan has no room for another job');
    return 'no_room';
  }
}

function endingOf({ id, state, outcome }: SqlJob): Ending {
  const units = outcome?.chargedQu ?? 0;
  if (state === 'succeeded') return { state, units, job: id, code: null, detail: null };
  const { code, detail } = outcome?.failure ?? { code: state, detail: `The job ended as ${state}.` };
  return { state: 'failed', units, job: id, code, detail };
}

async function finish(
  { store, clock }: RefresherDeps,
  due: DueRefresh,
  { version, settings: { refreshSeconds } }: SavedQuery,
  { nextAtMs: given, ...ending }: Ending,
): Promise<void> {
  // Not refreshed any more.
  if (refreshSeconds === null) return;
  const atMs = clock.nowMs();
  // A day that is waited for is no failure that makes the next wait longer.
  const failures = ending.state === 'succeeded' || given !== undefined ? 0 : due.failures + 1;
  const nextAtMs = given === undefined ? atMs + refreshDelayMs(refreshSeconds, failures) : given;
  const run: RefreshRun = { ...ending, atMs, version, nextAtMs };
  const kept = { run: JSON.stringify(run), failures, nextAtMs, keptMax: REFRESH_RUNS_KEPT };
  await store.refreshes.finish({ ...due, ...kept });
}

/** The same for the same run, in every process. */
function jobIdOf({ organizationId, slug, dueAtMs }: DueRefresh): string {
  const digest = createHash('sha256').update(JSON.stringify(['refresh', organizationId, slug, dueAtMs]));
  return digest
    .digest('hex')
    .slice(0, 32)
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');
}
