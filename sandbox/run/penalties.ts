import { isOrganizationName, rangeName } from '../../core/domain/caller.ts';
import { sha256Of } from '../../core/text.ts';
import { type OpenTo, QueryFailed, SandboxBusy } from '../sandbox.ts';

/**
 * The consequences of an unstoppable query, whose end took the queries of all other callers with it. Its caller is blocked for a
 * while, and so are all callers of the same address range, because addresses within a range cost nothing. If it happens repeatedly,
 * an attacker has several ranges: SQL is then for organizations only, and finally closed until an operator restarts the service. The
 * text itself is quarantined.
 */
export interface Penalties {
  /** Throws `SandboxBusy` (`penalty`, `organizations_only`, `closed`) if the caller's queries currently do not run. */
  check(caller: string): void;
  /** Reports an unstoppable query of the caller. */
  add(caller: string): void;
  openTo(): OpenTo;
}

export interface PenaltyLimits {
  readonly lastsMs: number;
  /** Maximum number of remembered callers; beyond it the oldest is dropped. */
  readonly callersMax: number;
  /** After this many unstoppable queries within `windowMs`, SQL is for organizations only until `organizationsOnlyMs` after the last. */
  readonly organizationsOnlyAfter: number;
  readonly windowMs: number;
  readonly organizationsOnlyMs: number;
  /** After this many more while SQL is for organizations only, it is closed. */
  readonly closedAfter: number;
  /** Called at each change with the number of unstoppable queries that caused it. */
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
  /** Times of the unstoppable queries that count in the current state. */
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

/** Texts whose run or planning could not be stopped. Each would force another restart, so none runs again. */
export interface Quarantine {
  /** Throws `QueryFailed` (`unsupported`) for a quarantined text. */
  check(text: string): void;
  add(text: string): void;
}

/** `max`: remembered texts; beyond it the oldest is dropped. */
export function createQuarantine(max: number): Quarantine {
  const digests = new Set<string>();
  return {
    check(text) {
      if (digests.has(sha256Of(text))) throw quarantined();
    },
    add(text) {
      digests.add(sha256Of(text));
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
