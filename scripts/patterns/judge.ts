import { availableParallelism } from 'node:os';
import { check } from 'recheck';

/** Judges regular expressions with recheck: which of them take more than linear time for some text. */

/** A pattern that is not judged by then is too hard to reason about: a simpler one is wanted. A judgement takes 0.1 s on average. */
const TIMEOUT_MS = 120_000;
/** By steps alone: with recheck's bounds of time, a busy machine makes a fast pattern look slow. */
const BY_STEPS = { timeout: TIMEOUT_MS, attackTimeout: null, incubationTimeout: null };

/** A sentence for each pattern that is slow for some text, by pattern. */
export async function slowPatterns(literals: Iterable<string>): Promise<ReadonlyMap<string, string>> {
  const slow = new Map<string, string>();
  const queue = [...literals].values();
  const lane = async (): Promise<void> => {
    for (const literal of queue) {
      const fault = await faultOf(literal);
      if (fault !== null) slow.set(literal, fault);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  return slow;
}

async function faultOf(literal: string): Promise<string | null> {
  const end = literal.lastIndexOf('/');
  // `d` asks for positions, which changes nothing in the search; recheck does not know it.
  const flags = literal.slice(end + 1).replace('d', '');
  const verdict = await check(literal.slice(1, end), flags, BY_STEPS);
  switch (verdict.status) {
    case 'safe':
      return null;
    case 'vulnerable':
      return `${verdict.complexity.summary}, for example for ${verdict.attack.pattern}`;
    case 'unknown':
      return `not judged (${verdict.error.kind}): write a simpler pattern`;
  }
}
