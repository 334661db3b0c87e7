import { setTimeout as delay } from 'node:timers/promises';
import { backOffMs } from '../../core/process/retry.ts';
import type { RpcEndpoint } from './rpc-endpoint.ts';
import { type ProviderContradiction, RpcFailure, WrongChain } from './rpc-failure.ts';
import type { RpcLimits } from './rpc-limits.ts';

export type Trouble = RpcFailure | ProviderContradiction;

/** One URL with what we remember of it. */
export interface Member {
  readonly endpoint: RpcEndpoint;
  failuresInRow: number;
  restUntilMs: number;
  restedAtMs: number;
  maxBatchCalls: number;
  /** 'open' until the node has said which chain it serves; a number is a wrong one. */
  chain: 'open' | 'right' | number;
}

/** Whose turn it is, and who rests after trouble. */
export interface Turn {
  /** The URL to ask now; waits while all rest. Throws `WrongChain` when none serves the chain, and when aborted. */
  next(): Promise<Member>;
  succeeded(member: Member): void;
  /** `startedMs`: when the failed exchange began; `calls`: how many it carried. */
  failed(member: Member, trouble: Trouble, startedMs: number, calls: number): void;
}

export function createTurn(
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
      const usable = order.filter(({ chain }) => typeof chain !== 'number');
      const nowMs = performance.now();
      const awake = usable.find(({ restUntilMs }) => restUntilMs <= nowMs);
      const chosen = awake ?? usable.sort((a, b) => a.restUntilMs - b.restUntilMs)[0];
      if (chosen === undefined) throw wrongChain(members);
      at = members.indexOf(chosen);
      if (chosen.restUntilMs > nowMs)
        await delay(chosen.restUntilMs - nowMs, undefined, signal ? { signal } : {});
      return chosen;
    },
    succeeded(member) {
      member.failuresInRow = 0;
    },
    failed(member, trouble, startedMs, calls) {
      if (trouble instanceof RpcFailure && trouble.kind === 'too-large') {
        // A prompt and honest refusal: the next, smaller request may follow at once.
        if (calls > 1) member.maxBatchCalls = Math.max(1, Math.floor(calls / 2));
        return;
      }
      // Calls that were under way together fail together: that is one failure, not a reason to wait 2^n times.
      if (startedMs < member.restedAtMs) return;
      member.failuresInRow++;
      member.restedAtMs = performance.now();
      member.restUntilMs = member.restedAtMs + restMs(member.failuresInRow, trouble, limits);
      if (member === current()) at++;
    },
  };
}

function wrongChain(members: readonly Member[]): WrongChain {
  const found = members.map(({ endpoint, chain }) => `${endpoint.name} serves eip155:${chain}`);
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
