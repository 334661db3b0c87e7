import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NIGHTLY_PARTS, partsNamed } from '../nightly/parts.ts';

const names = (parts: readonly { readonly name: string }[]): string[] => parts.map(({ name }) => name);

test('without a name all parts of the nightly run are run, with names those, in the order of the list', () => {
  expect(names(partsNamed([]))).toEqual(names(NIGHTLY_PARTS));
  expect(names(partsNamed(['chaos', 'suite']))).toEqual(['suite', 'chaos']);
});

test('a part that there is not is refused with the names of those that there are', () => {
  expect(() => partsNamed(['suite', 'choas'])).toThrow(
    'There is no part "choas". The parts are suite, patterns, demo, chaos, fuzz-sql, fuzz-http, many-ingest, cluster, node24.',
  );
});

test('every part of the nightly run starts programs and tests that are in the repository', () => {
  const paths = NIGHTLY_PARTS.flatMap((part) => part.command(1).args.filter((arg) => /^[\w.]+\//.test(arg)));
  expect(paths.length).toBeGreaterThanOrEqual(NIGHTLY_PARTS.length);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});
