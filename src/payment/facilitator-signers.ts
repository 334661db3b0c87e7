import type { Clock } from '../../core/clock.ts';
import type { Address } from '../../core/domain/account.ts';
import type { Chain } from '../../core/domain/chains.ts';
import type { Log } from '../../core/log.ts';
import type { Announcement, Facilitator } from './facilitator.ts';

/**
 * The addresses of our facilitator to which payers bind what they sign: on EVM chains those that settle ceilings, on Solana those that pay
 * the fees. Nothing that needs one is offered while none is known. The facilitator is asked when the service starts and then, in the
 * background, when an address is needed and the last answer is old.
 */
export interface FacilitatorSigners {
  /** The address to offer; null where there is none, or none is known. Never waits. */
  offered(chain: Chain): Address | null;
  /**
   * Whether the facilitator settles with that address; `unknown` when it has not named it and cannot be asked now. An
   * address that it once named stays good for a while: offers live on in clients.
   */
  isOurs(chain: Chain, address: Address): Promise<boolean | 'unknown'>;
  /** Asks now, unless a question is under way. Never rejects. */
  refresh(): Promise<void>;
}

const REFRESH_AFTER_MS = 5 * 60_000;
/** Callers can make us ask, but not more often. */
const ASK_AGAIN_AFTER_MS = 5_000;
/** Without an answer of the facilitator for this long its addresses are forgotten. */
const FORGET_AFTER_MS = 60 * 60_000;
/** Over all chains: bounds the memory when a facilitator names a new address each time. */
const REMEMBERED_MAX = 2_000;

interface Memory {
  /** `chain address` → when it was named last. */
  readonly seenAtMs: Map<string, number>;
  /** By chain, of the last answer. */
  offered: ReadonlyMap<Chain, Address>;
  answeredAtMs: number;
  askedAtMs: number;
}

export function createFacilitatorSigners({
  facilitator,
  clock,
  log,
}: {
  readonly facilitator: Pick<Facilitator, 'announced'>;
  readonly clock: Clock;
  readonly log: Log;
}): FacilitatorSigners {
  const long = Number.NEGATIVE_INFINITY;
  const memory: Memory = { seenAtMs: new Map(), offered: new Map(), answeredAtMs: long, askedAtMs: long };
  let asking: Promise<void> | null = null;

  const ask = async (): Promise<void> => {
    memory.askedAtMs = clock.nowMs();
    const announcement = await facilitator.announced();
    if (announcement.outcome === 'announced') remember(memory, announcement.signers, clock.nowMs());
    else log.warn({ err: announcement.cause }, 'the facilitator does not tell what it supports');
  };
  const refresh = (): Promise<void> => {
    asking ??= ask().finally(() => {
      asking = null;
    });
    return asking;
  };
  const refreshIf = async (ageMs: number): Promise<void> => {
    const nowMs = clock.nowMs();
    if (asking === null && nowMs - memory.answeredAtMs < ageMs) return;
    if (asking === null && nowMs - memory.askedAtMs < ASK_AGAIN_AFTER_MS) return;
    await refresh();
  };

  return {
    refresh,
    offered(chain) {
      void refreshIf(REFRESH_AFTER_MS);
      const isKnown = clock.nowMs() - memory.answeredAtMs < FORGET_AFTER_MS;
      return isKnown ? (memory.offered.get(chain) ?? null) : null;
    },
    async isOurs(chain, address) {
      const isRemembered = (): boolean => {
        const seenAtMs = memory.seenAtMs.get(keyOf(chain, address));
        return seenAtMs !== undefined && clock.nowMs() - seenAtMs < FORGET_AFTER_MS;
      };
      if (isRemembered()) return true;
      await refreshIf(0);
      const hasAnswered = memory.answeredAtMs >= memory.askedAtMs;
      return isRemembered() || (hasAnswered ? false : 'unknown');
    },
  };
}

type Announced = Extract<Announcement, { outcome: 'announced' }>['signers'];

/** The first address of a chain is the one to offer. */
function remember(memory: Memory, signers: Announced, nowMs: number): void {
  const offered = new Map<Chain, Address>();
  if (memory.seenAtMs.size > REMEMBERED_MAX) memory.seenAtMs.clear();
  for (const { chain, address } of signers) {
    if (!offered.has(chain)) offered.set(chain, address);
    memory.seenAtMs.set(keyOf(chain, address), nowMs);
  }
  memory.offered = offered;
  memory.answeredAtMs = nowMs;
}

function keyOf(chain: Chain, address: Address): string {
  return `${chain} ${address}`;
}
