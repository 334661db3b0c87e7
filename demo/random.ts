/**
 * Seeded randomness for the demo world: the same seed makes the same actors and the same plan of payments, so that a surprising
 * run can be made again. Not for secrets.
 */
export interface Random {
  /** Uniform in [0, 1). */
  readonly unit: () => number;
  /** Uniform integer in [0, bound). */
  readonly below: (bound: number) => number;
  /** True with the given probability. */
  readonly chance: (probability: number) => boolean;
  /** Uniform member. Throws on an empty list. */
  readonly pick: <T>(items: readonly T[]) => T;
  /** 32 bytes as hex, for authorization nonces. */
  readonly bytes32: () => `0x${string}`;
}

/** Generator mulberry32 (public domain): 32 bits of state are plenty for a plan of payments, and it is the same on every platform. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next32 = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const unit = (): number => next32() / 2 ** 32;
  const below = (bound: number): number => Math.floor(unit() * bound);
  return {
    unit,
    below,
    chance: (probability) => unit() < probability,
    pick: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
    bytes32: () => `0x${Array.from({ length: 8 }, () => next32().toString(16).padStart(8, '0')).join('')}`,
  };
}

/**
 * Zipf-like rank sampler over `count` items: item k is drawn with weight 1/(k+1). Real x402 payees look like this: a few
 * resources take most payments.
 */
export function zipfSampler(random: Random, count: number): () => number {
  const cumulative: number[] = [];
  let total = 0;
  for (let rank = 1; rank <= count; rank++) {
    total += 1 / rank;
    cumulative.push(total);
  }
  return () => {
    const target = random.unit() * total;
    let low = 0;
    let high = count - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((cumulative[middle] ?? total) < target) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

const TAIL_SHARE = 0.05;

/**
 * An amount of USDC in atomic units: mostly 0.001–0.01, with a tail up to a few dollars.
 */
export function paymentAmount(random: Random): bigint {
  if (!random.chance(TAIL_SHARE)) return BigInt(1_000 + random.below(9) * 1_000 + random.below(2) * 500);
  return BigInt(Math.floor(10_000 * 300 ** random.unit()));
}
