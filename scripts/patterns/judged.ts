import { type FoundPatterns, findPatterns, productSources } from './find.ts';
import { slowPatterns } from './judge.ts';

/**
 * The list of the patterns that were judged, one a line: a check judges those that are new alone, and is done in seconds where all of
 * them take a minute. Lines that are no pattern of the product have no effect, so a conflict between two lists needs no care.
 */

export const JUDGED_FILE = 'scripts/patterns/judged.txt';

/** The list as it has to be. Throws an error with the faults of all patterns that are not in it and must not be. */
export async function judgedPatterns(root: string, listed: string): Promise<string> {
  const found = findPatterns(productSources(root));
  const known = new Set(listed.split('\n'));
  const unknown = [...found.places.keys()].filter((literal) => !known.has(literal));
  const faults = await faultsOf(found, unknown);
  if (faults.length > 0) throw new SlowPatterns(faults);
  return `${[...found.places.keys()].sort().join('\n')}\n`;
}

export async function faultsOf(found: FoundPatterns, literals: Iterable<string>): Promise<readonly string[]> {
  const slow = await slowPatterns(literals);
  const told = [...slow].map(
    ([literal, fault]) => `${found.places.get(literal)?.join(', ')}: ${literal} is slow: ${fault}`,
  );
  return [...found.refused, ...told];
}

export class SlowPatterns extends Error {
  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'SlowPatterns';
  }
}
