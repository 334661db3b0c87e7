import type { Clock } from '../../core/clock.ts';
import type { Plan, PlanId } from '../../core/domain/plan.ts';
import type { Log } from '../../core/log.ts';
import type { Organization } from './account-store.ts';
import { type ControlStore, StoreUnavailable } from './store.ts';
import type { Hold } from './unit-store.ts';

/**
 * Background work of every API process: gives overdue holds back, grants the monthly units of plans, looks up payments of unknown
 * outcome. Several processes may do the same at once; nothing is done twice.
 */
export interface Sweeper {
  /** One pass. Never rejects: a task that fails is logged and tried again in the next pass. */
  sweep(): Promise<SweepReport>;
  /** Sweeps now, and then at every interval, until stopped. */
  start(): void;
  /** Resolves when no pass is running. */
  stop(): Promise<void>;
}

interface SweepReport {
  readonly holdsGivenBack: number;
  readonly organizationsGranted: number;
  readonly paymentsResolved: number;
}

interface SweeperDeps {
  readonly store: Pick<ControlStore, 'accounts' | 'units'>;
  readonly plans: Readonly<Record<PlanId, Plan>>;
  /** Looks up at most `limit` payments whose outcome is not known; answers how many are known now. */
  readonly resolvePayments: (limit: number) => Promise<number>;
  readonly clock: Clock;
  readonly log: Log;
}

const INTERVAL_MS = 30_000;
/** The most holds, organizations and payments of one pass, so that callers do not wait for it. */
const BATCH = 200;

export function createSweeper(deps: SweeperDeps): Sweeper {
  const { log } = deps;
  const grantMonthly = monthlyGrants(deps);
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<unknown> = Promise.resolve();
  let stopped = false;

  /** How much one task did; 0 when it failed. */
  const attempt = async (task: string, work: () => Promise<number>): Promise<number> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof StoreUnavailable)
        log.warn({ task, err: error }, 'the sweeper waits for the store');
      else log.error({ task, err: error }, 'a task of the sweeper failed');
      return 0;
    }
  };

  const sweep = async (): Promise<SweepReport> => {
    const holdsGivenBack = await attempt('holds', () => giveBackOverdue(deps));
    const organizationsGranted = await attempt('grants', grantMonthly);
    const paymentsResolved = await attempt('payments', () => deps.resolvePayments(BATCH));
    return { holdsGivenBack, organizationsGranted, paymentsResolved };
  };

  const loop = (): void => {
    if (stopped) return;
    running = sweep().then(() => {
      timer = setTimeout(loop, INTERVAL_MS);
      timer.unref();
    });
  };

  return {
    sweep,
    start: loop,
    stop: async () => {
      stopped = true;
      await running;
      clearTimeout(timer);
    },
  };
}

async function giveBackOverdue({ store: { units }, clock, log }: SweeperDeps): Promise<number> {
  let count = 0;
  for (const hold of await units.overdueHolds({ nowMs: clock.nowMs(), limit: BATCH })) {
    const { organizationId, holdId } = hold;
    const note = overdueNote(hold);
    const released = await units.release({
      organizationId,
      holdId,
      kind: 'overdue',
      note,
      atMs: clock.nowMs(),
    });
    if (released.outcome === 'released') count += 1;
  }
  if (count > 0) log.info({ holds: count }, 'overdue holds were given back');
  return count;
}

function overdueNote({ operation, heldAtMs, overdueAtMs }: Hold): string {
  const seconds = Math.round((overdueAtMs - heldAtMs) / 1_000);
  return `${operation} neither finished nor failed within ${seconds} s: its process ended, or lost the store; given back in full`;
}

/**
 * Grants every organization the units of its plan for the current UTC month, once: the grant is named after the month. A plan
 * changed within a month counts from the next one on. Each pass takes the next batch of organizations and starts over after the
 * last one; which have had this month's units is kept in memory, so that a finished month costs one page of names per pass.
 */
function monthlyGrants({ store, plans, clock, log }: SweeperDeps): () => Promise<number> {
  let after: string | null = null;
  let month = '';
  let granted = new Set<string>();
  return async () => {
    const nowMs = clock.nowMs();
    const thisMonth = new Date(nowMs).toISOString().slice(0, 7);
    if (thisMonth !== month) {
      month = thisMonth;
      granted = new Set();
      after = null;
    }
    const page = await store.accounts.listOrganizations({ after, limit: BATCH });
    let count = 0;
    for (const organization of page) {
      if (granted.has(organization.id)) continue;
      if (await grantMonth(store.units, plans[organization.plan], { organization, month, nowMs })) count += 1;
      granted.add(organization.id);
    }
    after = page.length < BATCH ? null : (page.at(-1)?.id ?? null);
    if (count > 0) log.info({ organizations: count, month }, 'monthly units were granted');
    return count;
  };
}

async function grantMonth(
  units: ControlStore['units'],
  { monthlyGrantQu }: Plan,
  to: { readonly organization: Organization; readonly month: string; readonly nowMs: number },
): Promise<boolean> {
  if (monthlyGrantQu === 0) return false;
  const { organization, month, nowMs } = to;
  const { outcome } = await units.grant({
    organizationId: organization.id,
    grantId: `monthly:${month}`,
    units: monthlyGrantQu,
    note: `monthly units of the plan ${organization.plan}`,
    atMs: nowMs,
  });
  return outcome === 'granted';
}
