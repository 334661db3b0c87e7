import { createHash } from 'node:crypto';
import type { Verdict } from './inspect.ts';
import type { QueryParameters } from './parser.ts';

/**
 * Verdicts that were given before. A verdict follows from the engine's version, the policy, the text and the values of its
 * parameters: a value can be the name of a function, or not fit its type. The key is the full SHA-256 of all of them: a
 * shortened one could let a text pass under another's verdict (docs/design/sandbox.md).
 */
export interface VerdictCache {
  /** The verdict of before, or that of `judge`, which is kept. A rejection is not. */
  verdict(subject: Subject, judge: () => Promise<Verdict>): Promise<Verdict>;
}

export interface Subject {
  readonly engineVersion: string;
  readonly policyVersion: string;
  readonly text: string;
  readonly parameters: QueryParameters;
}

export interface VerdictCacheLimits {
  readonly entriesMax: number;
  /** Of all texts that are kept, in UTF-16 units. */
  readonly charsMax: number;
}

interface Kept {
  readonly verdict: Verdict;
  readonly chars: number;
}

export function createVerdictCache({ entriesMax, charsMax }: VerdictCacheLimits): VerdictCache {
  const kept = new Map<string, Kept>();
  let chars = 0;
  const drop = (key: string): void => {
    chars -= kept.get(key)?.chars ?? 0;
    kept.delete(key);
  };
  const keep = (key: string, verdict: Verdict): void => {
    drop(key);
    const entry = { verdict, chars: charsOf(verdict) };
    kept.set(key, entry);
    chars += entry.chars;
    for (const oldest of kept.keys()) {
      if (kept.size <= entriesMax && chars <= charsMax) return;
      drop(oldest);
    }
  };
  return {
    async verdict(subject, judge) {
      const key = keyOf(subject);
      const known = kept.get(key);
      if (known !== undefined) {
        // A map's order is that of insertion: behind all others again.
        kept.delete(key);
        kept.set(key, known);
        return known.verdict;
      }
      const verdict = await judge();
      keep(key, verdict);
      return verdict;
    },
  };
}

/** JSON, because its quotes and commas keep the parts apart whatever stands in them. */
function keyOf({ engineVersion, policyVersion, text, parameters }: Subject): string {
  const values = Object.keys(parameters)
    .sort()
    .map((name) => [name, parameters[name]]);
  return createHash('sha256')
    .update(JSON.stringify([engineVersion, policyVersion, text, values]))
    .digest('base64');
}

function charsOf(verdict: Verdict): number {
  return JSON.stringify(verdict).length;
}
