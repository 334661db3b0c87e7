import { attackCases } from '../../kit/attack-cases.ts';
import { sqlLines } from '../../kit/judge.ts';
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

const NOWHERE = { secretFile: '/etc/passwd', outFile: '/tmp/out', database: 'settlement_index' };

export function readCorpus({ documented }: Vocabulary): Corpus {
  const hostile = attackCases(NOWHERE).filter(({ family }) => family === 'seen at callers');
  return {
    legit: sqlLines('sql-legit-examples').map(({ sql }) => sql),
    hostile: hostile.map(({ sql }) => sql),
    documented,
  };
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
