import { randomInt } from 'node:crypto';

/** The store of claims: reads the highest claim, writes a claim of ours, and checks whether another owner claims the same number. */
export interface Claims {
  highest(): Promise<bigint>;
  claim(number: bigint): Promise<void>;
  isClaimedByOthers(number: bigint): Promise<boolean>;
}

const CLAIMS_MAX = 20;

/**
 * Claims a number above all earlier claims and at least `atLeast`; null after too many collisions.
 *
 * The engine has no compare-and-set, so each process writes its claim and then reads. If another owner claims the same number, it
 * takes a higher one; of two overlapping claims at least the later one sees the other, so no number has two holders. After a
 * collision each adds a random step of up to `stepMax`, so that they rarely collide again.
 */
export async function claimNumber(
  claims: Claims,
  { atLeast = 0n, stepMax }: { readonly atLeast?: bigint; readonly stepMax: number },
): Promise<bigint | null> {
  let step = 1;
  for (let attempt = 0; attempt < CLAIMS_MAX; attempt++) {
    const next = (await claims.highest()) + BigInt(step);
    const number = next > atLeast ? next : atLeast;
    await claims.claim(number);
    if (!(await claims.isClaimedByOthers(number))) return number;
    step = 1 + randomInt(stepMax);
  }
  return null;
}
