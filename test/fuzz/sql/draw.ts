import { type Random, seededRandom } from '../../../demo/random.ts';

/** Seeded choices for the generator: the same seed and number make the same case, whatever ran before. */
export interface Draw extends Random {
  /** One of the makers, by weight; only that one is called. */
  readonly oneOf: (choices: readonly Choice[]) => string;
  /** From `least` to `most` pieces, joined. */
  readonly several: (
    size: readonly [least: number, most: number],
    make: () => string,
    glue?: string,
  ) => string;
  /** The piece with the given probability, otherwise nothing. */
  readonly maybe: (probability: number, make: () => string) => string;
}

export type Choice = readonly [weight: number, make: () => string];

/** Keeps the cases of one seed apart from the cases of its neighbours. */
const CASE_STRIDE = 0x9e3779b1;

export function drawFor(seed: number, caseNumber: number): Draw {
  const random = seededRandom(Math.imul(seed + 1, CASE_STRIDE) + caseNumber);
  return {
    ...random,
    oneOf(choices) {
      const total = choices.reduce((sum, [weight]) => sum + weight, 0);
      let left = random.unit() * total;
      const chosen = choices.find(([weight]) => {
        left -= weight;
        return left < 0;
      });
      return (chosen ?? choices[0])?.[1]() ?? '';
    },
    several([least, most], make, glue = ', ') {
      const count = least + random.below(most - least + 1);
      return Array.from({ length: count }, make).join(glue);
    },
    maybe: (probability, make) => (random.chance(probability) ? make() : ''),
  };
}
