import { setTimeout as delay } from 'node:timers/promises';
import type { Guard, Writer } from '../../clickhouse/engine/engine.ts';
import { guardedWriter, Overtaken } from '../../clickhouse/engine/guard.ts';
import type { Log } from '../../core/log.ts';
import { highestVersion } from '../write/highest-version.ts';
import { waitForWrites, writesOf } from '../write/running-inserts.ts';
import { untilAcknowledged } from '../write/until-acknowledged.ts';
import { createVersions, type Versions } from '../write/versions.ts';
import { claimFence, keepBeating, writeFence } from './fence.ts';
import type { Lease, Leases } from './leases.ts';

/** What whoever leads a scope works with, for as long as it leads. */
export interface Lead {
  readonly guard: Guard;
  /** Every insert of it is refused once somebody else leads. */
  readonly writer: Writer;
  /** Above everything that any predecessor wrote. */
  readonly versions: Versions;
  /** Aborts when the lead is lost, or the process ends. */
  readonly signal: AbortSignal;
}

export interface LeadDeps {
  readonly leases: Leases;
  readonly writer: Writer;
  /** This process and this start of it. */
  readonly owner: string;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly nowMs?: () => number;
  /** From one try to get the lease to the next. */
  readonly retryMs?: number;
}

/** Soon after a lease ends; a try is one round trip. */
const RETRY_MS = 500;
/** The same line again, for an operator who looks at the log of a process that stands by. */
const TELL_EVERY_MS = 60_000;

/**
 * Waits for the lead of a scope, works while it lasts, and waits again; until the signal aborts, with its reason. What `work`
 * throws is thrown, unless the lead was lost: then it is only the way in which the work ended.
 */
export async function lead(
  deps: LeadDeps,
  scope: string,
  work: (lead: Lead) => Promise<void>,
): Promise<never> {
  const { log, signal } = deps;
  for (;;) {
    const lease = await awaitLease(deps, scope);
    try {
      await leadOnce(deps, lease, work);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Overtaken) && !lease.signal.aborted) throw error;
      log.warn({ scope }, 'another process leads now; this one stands by');
    } finally {
      await lease.release();
    }
    signal.throwIfAborted();
  }
}

async function awaitLease(deps: LeadDeps, scope: string): Promise<Lease> {
  const { leases, log, signal, retryMs = RETRY_MS } = deps;
  let toldMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    signal.throwIfAborted();
    const lease = await untilAcknowledged(log, signal, () => leases.tryAcquire(scope));
    if (lease !== null) return lease;
    if (performance.now() - toldMs >= TELL_EVERY_MS) {
      log.info({ scope }, 'another process leads; this one stands by');
      toldMs = performance.now();
    }
    // Not in step with others who wait.
    await delay(retryMs * (0.5 + Math.random()), undefined, { signal });
  }
}

/**
 * Takes over, works, and says when it is done. The order is the whole point: the fence first, so that nothing of a predecessor
 * can begin any more; then what it had begun is waited for; then versions are taken above all that is there; and only then is
 * anything retracted or written.
 */
async function leadOnce(deps: LeadDeps, lease: Lease, work: (lead: Lead) => Promise<void>): Promise<void> {
  const { writer, owner, log, nowMs } = deps;
  const { scope } = lease;
  const ending = new AbortController();
  const signal = AbortSignal.any([deps.signal, lease.signal, ending.signal]);
  const acknowledged = <T>(attempt: () => Promise<T>): Promise<T> => untilAcknowledged(log, signal, attempt);
  const guard = await acknowledged(() => claimFence(writer, { scope, owner, atLeast: lease.token }));
  await lease.raise(guard.token);
  const beating = keepBeating(writer, { guard, owner, signal });
  try {
    await acknowledged(() =>
      waitForWrites(writer, writesOf(scope), signal, (count) =>
        log.info({ scope, count }, 'waiting for writes of a previous worker'),
      ),
    );
    const versions = createVersions(await acknowledged(() => highestVersion(writer)), nowMs);
    log.info({ scope, token: String(guard.token) }, 'this process leads');
    await work({ guard, writer: guardedWriter(writer, [guard]), versions, signal });
  } finally {
    ending.abort();
    await beating;
    await writeFence(writer, guard, owner, true).catch(() => undefined);
  }
}
