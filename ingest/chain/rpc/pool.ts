import { setTimeout as delay } from 'node:timers/promises';
import type { Chain } from '../../../core/domain/chains.ts';
import type { Log } from '../../../core/log.ts';
import { backOffMs } from '../../../core/process/retry.ts';
import type { RpcCall, RpcEndpoint, RpcOutcome } from './endpoint.ts';
import { ProviderContradiction, RpcFailure, WrongChain } from './failure.ts';
import type { RpcLimits } from './limits.ts';

/** A call and how its result is read. `read` throws `ProviderContradiction` or `RpcFailure` for a result that cannot be used. */
export interface Question<T> extends RpcCall {
  readonly read: (result: unknown) => T;
  /** True if a retry cannot help; the error is then thrown at once. */
  readonly givesUp?: (trouble: Trouble, attempts: number) => boolean;
}

/** All URLs of one chain: asks one, and on any failure the next, with growing pauses. */
export interface RpcPool {
  /**
   * Answers in the order of the questions; only failed ones are repeated. Throws the last error of a question that failed
   * `maxCallAttempts` times, and `WrongChain`.
   */
  askAll<T>(questions: readonly Question<T>[], batchCalls?: number): Promise<T[]>;
  ask<T>(question: Question<T>): Promise<T>;
  /**
   * Asks, once, a URL that did not give `answer`, which is to be compared. Null where there is none that is not paused, or where it does not
   * answer rightly: then nothing can be compared.
   */
  askOther<T>(question: Question<T>, answer: object): Promise<T | null>;
  /**
   * Reports answers that are valid individually but contradict each other: counts it, and pauses every URL that gave one of them,
   * because the wrong one is unknown. `answers` are the objects that `ask` and `askAll` returned.
   */
  distrust(contradiction: ProviderContradiction, answers: readonly object[]): void;
  /** Counts a flaw of an answer that was repaired. */
  note(contradiction: ProviderContradiction, answer: object): void;
  counters(): PoolCounters;
}

export interface PoolCounters {
  readonly calls: number;
  readonly retries: number;
  readonly contradictions: number;
  /** When the last of them was noticed, Unix milliseconds; 0 for never. */
  readonly contradictedAtMs: number;
}

/** How a node says which chain it serves. */
export interface Identity extends RpcCall {
  /** Null for an answer that names no chain. */
  readonly read: (result: unknown) => Chain | null;
}

export interface PoolOptions {
  readonly endpoints: readonly RpcEndpoint[];
  readonly chain: Chain;
  readonly identity: Identity;
  readonly limits: RpcLimits;
  readonly log: Log;
  readonly signal: AbortSignal | undefined;
  readonly onRetry?: ((trouble: Trouble, provider: string) => void) | undefined;
}

/** A pending question. */
interface Pending<T> {
  readonly question: Question<T>;
  attempts: number;
  outcome: { readonly answer: T } | null;
}

export function createPool(options: PoolOptions): RpcPool {
  const { limits } = options;
  const turn = createTurn(options.endpoints, options);
  const counters = { calls: 0, retries: 0, contradictions: 0, contradictedAtMs: 0 };
  const givers = createGivers();

  const note = (trouble: Trouble, provider: string): void => {
    if (trouble instanceof ProviderContradiction) {
      countContradiction(counters);
      options.log.warn({ provider, kind: trouble.kind }, `provider contradiction: ${trouble.message}`);
    } else {
      options.log.debug({ provider, kind: trouble.kind }, `RPC call failed: ${trouble.message}`);
    }
    options.onRetry?.(trouble, provider);
  };
  const exchange = async (member: Member, calls: readonly RpcCall[]): Promise<RpcOutcome[]> => {
    counters.calls += calls.length;
    return member.endpoint.exchange(calls);
  };
  /** One exchange. Leaves failed questions pending, and throws errors that must not be retried. */
  const attempt = async <T>(member: Member, part: readonly Pending<T>[]): Promise<void> => {
    const startedMs = performance.now();
    const outcomes = await exchange(
      member,
      part.map(({ question }) => question),
    );
    const troubles = part.map((pending, index) => receive(pending, outcomes[index]));
    givers.remember(member, part);
    const trouble = troubles.find((found) => found !== null) ?? null;
    if (trouble === null) return turn.succeeded(member);
    turn.failed(member, trouble, startedMs, part.length);
    for (const found of troubles)
      if (found instanceof ProviderContradiction) note(found, member.endpoint.name);
    if (!(trouble instanceof ProviderContradiction)) note(trouble, member.endpoint.name);
    for (const [index, { outcome, attempts, question }] of part.entries()) {
      const found = troubles[index] ?? trouble;
      if (outcome === null && (attempts >= limits.maxCallAttempts || question.givesUp?.(found, attempts)))
        throw found;
    }
  };
  const askAll = async <T>(
    questions: readonly Question<T>[],
    batchCalls = limits.maxBatchCalls,
  ): Promise<T[]> => {
    const all = questions.map((question): Pending<T> => ({ question, attempts: 0, outcome: null }));
    let open: readonly Pending<T>[] = all;
    while (open.length > 0) {
      const member = await turn.next();
      if (member.chain !== 'right' && !(await learnChain(member))) continue;
      const parts = chunks(open, Math.min(batchCalls, member.maxBatchCalls));
      // Wait for all before throwing a failure: no request may outlive its read.
      const settled = await Promise.allSettled(parts.map((part) => attempt(member, part)));
      for (const outcome of settled) if (outcome.status === 'rejected') throw outcome.reason;
      open = open.filter(({ outcome }) => outcome === null);
      counters.retries += open.length;
    }
    return all.map(answerOf);
  };
  /**
   * Asks which chain it serves before the first real question. A URL of another chain is never asked again: its answers would
   * pass every other check and fill the index with another chain's payments.
   */
  const learnChain = async (member: Member): Promise<boolean> => {
    const startedMs = performance.now();
    const [outcome] = await exchange(member, [options.identity]);
    const found = readChain(options.identity, outcome);
    const provider = member.endpoint.name;
    if (found instanceof RpcFailure) {
      turn.failed(member, found, startedMs, 1);
      note(found, provider);
      return false;
    }
    member.chain = found === options.chain ? 'right' : found;
    if (member.chain === 'right') return true;
    tellWrongChain(options, provider, found);
    return false;
  };
  return {
    askAll,
    ask: async <T>(question: Question<T>) => (await askAll([question]))[0] as T, // askAll answers every question
    askOther: createAskOther({ turn, givers, attempt, learnChain }),
    distrust(contradiction, answers) {
      const members = givers.of(answers);
      note(contradiction, namesOf(members));
      for (const member of members) turn.failed(member, contradiction, performance.now(), 1);
    },
    note: (contradiction, answer) => note(contradiction, namesOf(givers.of([answer]))),
    counters: () => ({ ...counters }),
  };
}

function createAskOther({
  turn,
  givers,
  attempt,
  learnChain,
}: {
  readonly turn: Turn;
  readonly givers: ReturnType<typeof createGivers>;
  readonly attempt: <T>(member: Member, part: readonly Pending<T>[]) => Promise<void>;
  readonly learnChain: (member: Member) => Promise<boolean>;
}): RpcPool['askOther'] {
  return async <T>(question: Question<T>, answer: object): Promise<T | null> => {
    const member = turn.other(givers.of([answer]));
    if (member === null || (member.chain !== 'right' && !(await learnChain(member)))) return null;
    const once = { ...question, givesUp: () => true };
    const pending: Pending<T> = { question: once, attempts: 0, outcome: null };
    await attempt(member, [pending]).catch((error: unknown) => {
      if (!(error instanceof RpcFailure || error instanceof ProviderContradiction)) throw error;
    });
    return pending.outcome?.answer ?? null;
  };
}

function countContradiction(counters: { contradictions: number; contradictedAtMs: number }): void {
  counters.contradictions++;
  counters.contradictedAtMs = Date.now();
}

function tellWrongChain({ log, chain }: PoolOptions, provider: string, found: Chain): void {
  log.error({ provider, chain: found, expected: chain }, 'this RPC URL serves another chain');
}

/** The URL behind each answer: when a contradiction is found, another URL may be in use. */
function createGivers() {
  const givers = new WeakMap<object, Member>();
  return {
    remember(member: Member, part: readonly Pending<unknown>[]): void {
      for (const { outcome } of part)
        if (typeof outcome?.answer === 'object' && outcome.answer !== null)
          givers.set(outcome.answer, member);
    },
    of: (answers: readonly object[]): ReadonlySet<Member> =>
      new Set(answers.flatMap((answer) => givers.get(answer) ?? [])),
  };
}

function namesOf(members: Iterable<Member>): string {
  return [...members].map(({ endpoint }) => endpoint.name).join(', ');
}

/** Stores the answer or its failure. Throws our own errors, which are bugs. */
function receive<T>(pending: Pending<T>, outcome: RpcOutcome | undefined): Trouble | null {
  pending.attempts++;
  if (outcome === undefined) return new RpcFailure('unreadable', 'left unanswered');
  if ('failure' in outcome) {
    return outcome.failure;
  }
  try {
    pending.outcome = { answer: pending.question.read(outcome.result) };
    return null;
  } catch (error) {
    if (error instanceof RpcFailure || error instanceof ProviderContradiction) return error;
    throw error;
  }
}

function answerOf<T>({ question, outcome }: Pending<T>): T {
  if (outcome === null) throw new Error(`${question.method} was never answered`);
  return outcome.answer;
}

function readChain({ method, read }: Identity, outcome: RpcOutcome | undefined): Chain | RpcFailure {
  if (outcome === undefined) return new RpcFailure('unreadable', `${method}: left unanswered`);
  if ('failure' in outcome) return outcome.failure;
  return read(outcome.result) ?? new RpcFailure('unreadable', `${method}: names no chain`);
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  const parts: T[][] = [];
  for (let start = 0; start < items.length; start += size) parts.push(items.slice(start, start + size));
  return parts;
}

export type Trouble = RpcFailure | ProviderContradiction;

/** A URL and its state. */
interface Member {
  readonly endpoint: RpcEndpoint;
  failuresInRow: number;
  restUntilMs: number;
  restedAtMs: number;
  maxBatchCalls: number;
  /** 'open' until the node has said which chain it serves; a name is a wrong one. */
  chain: 'open' | 'right' | Chain;
}

/** Chooses the URL to use, and pauses URLs after failures. */
interface Turn {
  /** The URL to use now; waits while all are paused. Throws `WrongChain` if none serves the chain, and when aborted. */
  next(): Promise<Member>;
  /** A URL besides these that may serve the chain and is not paused. */
  other(besides: ReadonlySet<Member>): Member | null;
  succeeded(member: Member): void;
  /** `startedMs`: when the failed exchange began; `calls`: how many it carried. */
  failed(member: Member, trouble: Trouble, startedMs: number, calls: number): void;
}

function createTurn(
  endpoints: readonly RpcEndpoint[],
  options: { readonly limits: RpcLimits; readonly signal: AbortSignal | undefined },
): Turn {
  const { limits, signal } = options;
  const members = endpoints.map(
    (endpoint): Member => ({
      endpoint,
      failuresInRow: 0,
      restUntilMs: 0,
      restedAtMs: 0,
      maxBatchCalls: limits.maxBatchCalls,
      chain: 'open',
    }),
  );
  const isUsable = ({ chain }: Member): boolean => chain === 'open' || chain === 'right';
  let at = 0;
  const current = (): Member => {
    const member = members[at % members.length];
    if (member === undefined) throw new Error('a chain needs at least one RPC URL');
    return member;
  };
  return {
    async next() {
      signal?.throwIfAborted();
      const first = members.indexOf(current());
      const order = [...members.slice(first), ...members.slice(0, first)];
      const usable = order.filter(isUsable);
      const nowMs = performance.now();
      const awake = usable.find(({ restUntilMs }) => restUntilMs <= nowMs);
      const chosen = awake ?? usable.sort((a, b) => a.restUntilMs - b.restUntilMs)[0];
      if (chosen === undefined) throw wrongChain(members);
      at = members.indexOf(chosen);
      if (chosen.restUntilMs > nowMs)
        await delay(chosen.restUntilMs - nowMs, undefined, signal ? { signal } : {});
      return chosen;
    },
    other(besides) {
      const nowMs = performance.now();
      return (
        members.find((member) => isUsable(member) && !besides.has(member) && member.restUntilMs <= nowMs) ??
        null
      );
    },
    succeeded(member) {
      member.failuresInRow = 0;
    },
    failed(member, trouble, startedMs, calls) {
      if (trouble instanceof RpcFailure && trouble.kind === 'too-large') {
        // The node is healthy and refused the size: a smaller request may follow at once.
        if (calls > 1) member.maxBatchCalls = Math.max(1, Math.floor(calls / 2));
        return;
      }
      // Concurrent calls fail together: that is one failure, not n for the exponential back-off.
      if (startedMs < member.restedAtMs) return;
      member.failuresInRow++;
      member.restedAtMs = performance.now();
      member.restUntilMs = member.restedAtMs + restMs(member.failuresInRow, trouble, limits);
      if (member === current()) at++;
    },
  };
}

function wrongChain(members: readonly Member[]): WrongChain {
  const found = members.map(({ endpoint, chain }) => `${endpoint.name} serves ${chain}`);
  return new WrongChain(`No configured RPC URL serves this chain: ${found.join(', ')}.`);
}

function restMs(failuresInRow: number, trouble: Trouble, limits: RpcLimits): number {
  const demandedMs = trouble instanceof RpcFailure ? trouble.retryAfterMs : null;
  if (demandedMs !== null) return Math.min(demandedMs, limits.retryAfterMaxMs);
  return restAfter(failuresInRow, limits);
}

/** Between attempts at this URL. */
export function restAfter(failuresInRow: number, { backOffFirstMs, backOffMaxMs }: RpcLimits): number {
  return backOffMs(failuresInRow, { firstMs: backOffFirstMs, maxMs: backOffMaxMs });
}
