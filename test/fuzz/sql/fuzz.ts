import type { FuzzEngine } from './fuzz-engine.ts';
import { generateCase, readCorpus } from './generate.ts';
import { createJudge, type Judged } from './judge.ts';
import type { Violation } from './oracle.ts';
import type { FuzzCase } from './selects.ts';
import { shrink } from './shrink.ts';
import { readVocabulary } from './vocabulary.ts';

export interface FuzzOptions {
  readonly seed: number;
  /** Ends after this time, or after `casesMax`, whichever comes first. */
  readonly seconds: number;
  readonly casesMax: number;
  readonly onProgress?: (elapsedSeconds: number, cases: number) => void;
}

export interface FuzzReport {
  readonly seed: number;
  readonly cases: number;
  readonly accepted: number;
  /** Accepted texts that the engine answered. */
  readonly answered: number;
  readonly seconds: number;
  readonly inspectMsMax: number;
  /** How often each refusal, and each error of an accepted text. */
  readonly codes: ReadonlyMap<string, number>;
  readonly finding: Finding | null;
}

export interface Finding {
  readonly caseNumber: number;
  readonly violation: Violation;
  readonly found: FuzzCase;
  readonly shrunken: FuzzCase;
}

const BATCH_CASES = 200;

/** Generates, judges, and stops at the first text that is accepted and should not be; that one is cut down. */
export async function fuzz(engine: FuzzEngine, options: FuzzOptions): Promise<FuzzReport> {
  const began = performance.now();
  const elapsed = (): number => (performance.now() - began) / 1_000;
  const vocabulary = await readVocabulary(engine.writer, engine);
  const corpus = readCorpus(vocabulary);
  const judge = createJudge(engine);
  const tally = { cases: 0, accepted: 0, answered: 0, inspectMsMax: 0, codes: new Map<string, number>() };
  const report = (finding: Finding | null): FuzzReport => ({
    ...tally,
    seed: options.seed,
    seconds: elapsed(),
    finding,
  });
  while (tally.cases < options.casesMax && elapsed() < options.seconds) {
    const first = tally.cases;
    const size = Math.min(BATCH_CASES, options.casesMax - first);
    const cases = Array.from({ length: size }, (_, index) =>
      generateCase(options.seed, first + index, vocabulary, corpus),
    );
    const judged = await judge.judge(cases);
    for (const one of judged) count(tally, one);
    options.onProgress?.(elapsed(), tally.cases);
    const index = judged.findIndex(({ violations }) => violations.length > 0);
    const [found, violation] = [cases[index], judged[index]?.violations[0]];
    if (found === undefined || violation === undefined) continue;
    return report({
      caseNumber: first + index,
      violation,
      found,
      shrunken: await shrink(judge, found, violation.rule),
    });
  }
  return report(null);
}

interface Tally {
  cases: number;
  accepted: number;
  answered: number;
  inspectMsMax: number;
  readonly codes: Map<string, number>;
}

function count(tally: Tally, { verdict, code, inspectMs }: Judged): void {
  tally.cases += 1;
  tally.inspectMsMax = Math.max(tally.inspectMsMax, inspectMs);
  if (verdict === 'accepted') tally.accepted += 1;
  if (verdict === 'accepted' && code === '0') tally.answered += 1;
  const key = `${verdict} ${code}`;
  tally.codes.set(key, (tally.codes.get(key) ?? 0) + 1);
}
