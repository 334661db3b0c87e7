import { readFileSync } from 'node:fs';
import { type Draw, drawFor } from './draw.ts';
import { hostilePieces, type Mood } from './hostile.ts';
import { mutate } from './mutate.ts';
import { type FuzzCase, generateSelect, withUsedParameters } from './selects.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Texts that exist: the example sets, and the engine's own documentation. */
export interface Corpus {
  readonly legit: readonly string[];
  readonly hostile: readonly string[];
  readonly documented: readonly string[];
}

export function readCorpus({ documented }: Vocabulary): Corpus {
  return { legit: examplesOf('legit'), hostile: examplesOf('hostile'), documented };
}

function examplesOf(name: 'legit' | 'hostile'): string[] {
  const file = new URL(`../../fixtures/sql/sql-${name}-examples.jsonl`, import.meta.url);
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => (JSON.parse(line) as { readonly sql: string }).sql); // our own fixture
}

/** Nothing hostile, so that much is accepted; one theme; a few hostile pieces, that must not hide among the rest; many. */
const MOODS: readonly Mood[] = [
  { nastiness: 0, themed: false },
  { nastiness: 0, themed: false },
  { nastiness: 0.25, themed: true },
  { nastiness: 0.1, themed: true },
  { nastiness: 0.02, themed: false },
  { nastiness: 0.1, themed: false },
];
const MUTATION: Mood = { nastiness: 1, themed: false };

/** The case of a seed and a number, always the same one. */
export function generateCase(
  seed: number,
  caseNumber: number,
  vocabulary: Vocabulary,
  corpus: Corpus,
): FuzzCase {
  const draw = drawFor(seed, caseNumber);
  const base = baseOf(draw, vocabulary, corpus);
  if (!draw.chance(0.3)) return base;
  const other = baseOf(draw, vocabulary, corpus);
  return withUsedParameters({
    ...base,
    text: mutate(draw, hostilePieces(draw, vocabulary, MUTATION), base.text, other.text),
  });
}

function baseOf(draw: Draw, vocabulary: Vocabulary, corpus: Corpus): FuzzCase {
  if (draw.chance(0.7)) return generateSelect(draw, vocabulary, draw.pick(MOODS));
  const set = draw.pick([corpus.legit, corpus.hostile, corpus.documented]);
  return { text: draw.pick(set), parameters: {} };
}
