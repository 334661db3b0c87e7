import { createHash } from 'node:crypto';
import { isOrganizationName, rangeName } from '../../core/domain/caller.ts';
import { type OpenTo, QueryFailed, SandboxBusy } from '../sandbox.ts';

/**
 * What follows a query that the engine could not be stopped from running, because ending it ended the queries of all others too. Its
 * caller waits, and so do all callers of the same address range, because addresses of one range cost nothing. If it happens again and
 * again, the attacker has several ranges: then SQL is for organizations only, and then for no caller until an operator has looked and
 * restarts the service. The text itself is quarantined.
 */
export interface Penalties {
  /** Throws `SandboxBusy` (`penalty`, `organizations_only`, `closed`) where the caller's queries are not run at the moment. */
  check(caller: string): void;
  /** A query of the caller could not be stopped. */
  add(caller: string): void;
  openTo(): OpenTo;
}

export interface PenaltyLimits {
  readonly lastsMs: number;
  /** Callers that are remembered; beyond it the oldest is forgotten. */
  readonly callersMax: number;
  /** Unstoppable queries within `windowMs` after which SQL is for organizations only, for `organizationsOnlyMs` after the last one. */
  readonly organizationsOnlyAfter: number;
  readonly windowMs: number;
  readonly organizationsOnlyMs: number;
  /** Further ones while it is for organizations only, after which it is for no caller. */
  readonly closedAfter: number;
  /** Called on each change, with the number of unstoppable queries that led to it. */
  readonly onChange?: (openTo: OpenTo, unstoppable: number) => void;
}

export function createPenalties(
  limits: PenaltyLimits,
  now: () => number = () => performance.now(),
): Penalties {
  const endsAt = new Map<string, number>(); // in the order in which they end
  const service = createServicePenalty(limits, now);
  return {
    openTo: service.openTo,
    check(caller) {
      service.check(caller);
      const name = rangeName(caller);
      const leftMs = (endsAt.get(name) ?? 0) - now();
      if (leftMs > 0) throw new SandboxBusy(Math.ceil(leftMs / 1_000), 'penalty');
      endsAt.delete(name);
    },
    add(caller) {
      const name = rangeName(caller);
      endsAt.delete(name);
      endsAt.set(name, now() + limits.lastsMs);
      const [oldest] = endsAt.keys();
      if (endsAt.size > limits.callersMax && oldest !== undefined) endsAt.delete(oldest);
      service.add();
    },
  };
}

interface ServicePenalty {
  check(caller: string): void;
  add(): void;
  openTo(): OpenTo;
}

function createServicePenalty(limits: PenaltyLimits, now: () => number): ServicePenalty {
  let state: OpenTo = 'everyone';
  /** Of the state it is in, when each happened. */
  let times: number[] = [];
  const change = (next: OpenTo): void => {
    state = next;
    const count = times.length;
    times = [];
    limits.onChange?.(next, count);
  };
  let lastAt = 0;
  const openTo = (): OpenTo => {
    if (state === 'organizations' && now() - lastAt >= limits.organizationsOnlyMs) change('everyone');
    return state;
  };
  return {
    openTo,
    check(caller) {
      const to = openTo();
      if (to === 'no_caller') throw new SandboxBusy(limits.organizationsOnlyMs / 1_000, 'closed');
      if (to === 'organizations' && !isOrganizationName(caller))
        throw new SandboxBusy(
          Math.ceil((limits.organizationsOnlyMs - (now() - lastAt)) / 1_000),
          'organizations_only',
        );
    },
    add() {
      if (openTo() === 'no_caller') return;
      lastAt = now();
      times = [...times.filter((at) => state !== 'everyone' || lastAt - at < limits.windowMs), lastAt];
      if (state === 'everyone' && times.length >= limits.organizationsOnlyAfter) change('organizations');
      else if (state === 'organizations' && times.length >= limits.closedAfter) change('no_caller');
    },
  };
}

/** Texts that the engine could not be stopped from running or planning: each would force another restart, so none is run again. */
export interface Quarantine {
  /** Throws `QueryFailed` (`unsupported`) for a text that is in it. */
  check(text: string): void;
  add(text: string): void;
}

/** `max`: texts that are remembered; beyond it the oldest is forgotten. */
export function createQuarantine(max: number): Quarantine {
  const digests = new Set<string>();
  return {
    check(text) {
      if (digests.has(digestOf(text))) throw quarantined();
    },
    add(text) {
      digests.add(digestOf(text));
      const [oldest] = digests;
      if (digests.size > max && oldest !== undefined) digests.delete(oldest);
    },
  };
}

function quarantined(): QueryFailed {
  return new QueryFailed({
    reason: 'unsupported',
    detail: 'This query could not be stopped when it ran before. It is not run again.',
    hint: 'Write it with smaller values: a single step of it takes longer than its tier.',
    figures: null,
  });
}

export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
