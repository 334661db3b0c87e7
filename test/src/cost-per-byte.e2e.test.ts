import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Case, describeGrowth, growthOf } from '../fuzz/cost/growth.ts';
import { type Measured, startReaders, startService } from '../fuzz/cost/measured.ts';
import { TEXTS } from '../fuzz/cost/texts.ts';

/**
 * No text of a stranger costs more per byte for being longer: one that does stops the service for every other caller. `npm run fuzz -- cost`
 * tries all pairs of an entry and a text.
 */

/** Every entry meets one text, each another one. The step has no factor with the number of texts or of their units. */
const TEXT_STEP = 97;

function sampled({ entries }: Measured): Case[] {
  const texts = [...TEXTS.keys()];
  return entries.map((entry, at) => ({ entry, text: texts[(at * TEXT_STEP) % texts.length] ?? '' }));
}

/** Each was found to be slow once: more comments, blanks, constants or placeholders than a pattern or a loop could take. */
const FOUND: readonly (readonly [entry: string, text: string])[] = [
  ['query of the ClickHouse interface', '/**/…'],
  ['body of the ClickHouse interface', '/**/…'],
  ['body of the ClickHouse interface', '{ a : …'],
  ['saved query', 'SELECT {a: …'],
  ['SQL, explained', 'SELECT /* …'],
  ['SQL, explained', 'SELECT = "…'],
  ['SQL, explained', "SELECT '\\\n…"],
  ['SQL, explained with a value', 'SELECT {a:UInt8} + …1'],
  ['SQL, explained', "SELECT 1 FROM settlements WHERE chain = 'eip155:8453' OR …1"],
  ['SQL, explained', "SELECT '\\\n…' FROM settlements WHERE payr = 1"],
  ['SQL, run', 'SELECT payer AS payer, …1 FROM settlements'],
];

describe.each([
  ['the service', startService, FOUND],
  ['the readers of files', startReaders, []],
] as const)('%s', (_what, start, found) => {
  let measured: Measured;
  beforeAll(async () => {
    measured = await start();
  });
  afterAll(() => measured?.close());

  test('is reached at every entry', async () => {
    expect(await measured.unreached()).toEqual([]);
  });

  test('spends no more on a byte of a longer text', async () => {
    const named = found.map(([entry, text]) => ({ entry, text }));
    const grown: string[] = [];
    for (const one of [...named, ...sampled(measured)]) {
      const growth = await growthOf(one, measured);
      if (growth !== null) grown.push(describeGrowth(growth));
      if (growth?.ms.includes('stopped') === true) break;
    }
    expect(grown).toEqual([]);
  });
});
