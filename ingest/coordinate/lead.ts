import { setTimeout as delay } from 'node:timers/promises';
import type { Guard, Writer } from '../../clickhouse/engine/engine.ts';
import { guardedWriter, Overtaken } from '../../clickhouse/engine/guard.ts';
import type { Log } from '../../core/log.ts';
import { untilAcknowledged } from '../write/batch-writer.ts';
import { claimFence, keepBeating, writeFence } from '../write/fence.ts';
import { waitForWrites } from '../write/retract.ts';
import { createVersions, highestVersion, type Versions } from '../write/versions.ts';

/**
 * Leader election for a scope among any number of processes. A lease only keeps two processes from getting in each other's way; the
 * fence (fence.ts) guarantees safety.
 *
 * Contract:
 * - of two leases on one scope that are held at once, at most one has a signal that is not aborted, as long as the store keeps
 *   what it acknowledged and clocks run at about the same speed; their readings do not matter;
 * - if a holder cannot renew, its signal aborts well before another process can get the lease;
 * - a lease ends with `release`, or expires when its process is gone.
 */
export interface Leases {
  /** Null when another process holds it, or when the store does not answer. */
  tryAcquire(scope: string): Promise<Lease | null>;
}

export interface Lease {
  readonly scope: string;
  /** Higher than the previous holder's, as far as the store remembers; the fence makes sure. */
  readonly token: bigint;
  /** Aborts when the lease is lost. */
  readonly signal: AbortSignal;
  /** Raises the store's token, so that the next holder starts above it. Does not fail if the store is unreachable. */
  raise(token: bigint): Promise<void>;
  /** Lets the next process in at once. */
  release(): Promise<void>;
}

/** What the leader of a scope gets while it leads. */
export interface Lead {
  readonly guard: Guard;
  /** Every insert of it is refused once another process leads. */
  readonly writer: Writer;
  /** Versions above everything that a predecessor wrote. */
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
/** Interval for repeating the log line of a standby process. */
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
      // Overtaken on another scope: the lead around this one is lost, and ends this one too.
      const isOvertaken = error instanceof Overtaken && error.scope === scope;
      if (!isOvertaken && !lease.signal.aborted) throw error;
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
    // Random, so that waiting processes do not ask in step.
    await delay(retryMs * (0.5 + Math.random()), undefined, { signal });
  }
}

/**
 * Takes over, works, and releases the lead. The order matters: first claim the fence, so that no write of a predecessor can begin; then
 * wait for the writes that it had begun; then take versions above everything stored; only then retract or write.
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
      waitForWrites(writer, scope, signal, (count) =>
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
