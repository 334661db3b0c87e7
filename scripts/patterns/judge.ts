import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';

/** Judges regular expressions with recheck: which of them take more than linear time for some text. */

/** A package of its own: 57 MB, for patterns that are new. */
const TOOLS = new URL('../tools/', import.meta.url);

/** What it answers, as far as it is read here. */
type Judgement =
  | { readonly status: 'safe' }
  | {
      readonly status: 'vulnerable';
      readonly complexity: { readonly summary: string };
      readonly attack: { readonly pattern: string };
    }
  | { readonly status: 'unknown'; readonly error: { readonly kind: string } };
type Check = (source: string, flags: string, options: object) => Promise<Judgement>;

/** A pattern that is not judged by then is too hard to reason about: a simpler one is wanted. A judgement takes 0.1 s on average. */
const TIMEOUT_MS = 120_000;
/** By steps alone: with recheck's bounds of time, a busy machine makes a fast pattern look slow. */
const BY_STEPS = { timeout: TIMEOUT_MS, attackTimeout: null, incubationTimeout: null };

export function canJudge(): boolean {
  return existsSync(fileURLToPath(new URL('node_modules/recheck', TOOLS)));
}

function loadCheck(): Check {
  if (!canJudge()) throw new Error('the judge of new patterns is missing: npm ci --prefix scripts/tools');
  const { check } = createRequire(new URL('package.json', TOOLS))('recheck') as { check: Check }; // its documented export
  return check;
}

/** A sentence for each pattern that is slow for some text, by pattern. */
export async function slowPatterns(literals: Iterable<string>): Promise<ReadonlyMap<string, string>> {
  const slow = new Map<string, string>();
  const all = [...literals];
  if (all.length === 0) return slow;
  const check = loadCheck();
  const queue = all.values();
  const lane = async (): Promise<void> => {
    for (const literal of queue) {
      const fault = await faultOf(check, literal);
      if (fault !== null) slow.set(literal, fault);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  return slow;
}

async function faultOf(check: Check, literal: string): Promise<string | null> {
  const end = literal.lastIndexOf('/');
  // `d` asks for positions, which changes nothing in the search; recheck does not know it.
  const flags = literal.slice(end + 1).replace('d', '');
  const judgement = await check(literal.slice(1, end), flags, BY_STEPS);
  switch (judgement.status) {
    case 'safe':
      return null;
    case 'vulnerable':
      return `${judgement.complexity.summary}, for example for ${judgement.attack.pattern}`;
    case 'unknown':
      return `not judged (${judgement.error.kind}): write a simpler pattern`;
  }
}
