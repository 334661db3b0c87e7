import type { Judge } from './judge.ts';
import { tokensOf } from './mutate.ts';
import type { ViolationRule } from './oracle.ts';
import { type FuzzCase, withUsedParameters } from './selects.ts';

/** Cuts a text down while it still breaks the same rule: halves first, then ever smaller pieces, then single tokens. */

const SHRINK_MS_MAX = 20_000;
const PIECES_MAX = 64;

export async function shrink(judge: Judge, found: FuzzCase, rule: ViolationRule): Promise<FuzzCase> {
  const until = performance.now() + SHRINK_MS_MAX;
  let smallest = found;
  let size = Math.ceil(tokensOf(found.text).length / 2);
  while (size >= 1 && performance.now() < until) {
    const shorter = await firstThatBreaks(judge, withoutPieces(smallest, size), rule);
    if (shorter !== undefined) smallest = shorter;
    else if (size === 1) break;
    else size = Math.floor(size / 2);
  }
  return smallest;
}

function withoutPieces({ text, parameters }: FuzzCase, size: number): FuzzCase[] {
  const tokens = tokensOf(text);
  const starts = Array.from({ length: Math.ceil(tokens.length / size) }, (_, index) => index * size);
  return starts.map((start) => {
    return withUsedParameters({ text: tokens.toSpliced(start, size).join(''), parameters });
  });
}

async function firstThatBreaks(
  judge: Judge,
  cases: readonly FuzzCase[],
  rule: ViolationRule,
): Promise<FuzzCase | undefined> {
  for (let at = 0; at < cases.length; at += PIECES_MAX) {
    const group = cases.slice(at, at + PIECES_MAX);
    const judged = await judge.judge(group);
    const index = judged.findIndex(({ violations }) => violations.some((one) => one.rule === rule));
    if (index >= 0) return group[index];
  }
  return undefined;
}
