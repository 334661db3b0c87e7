import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LONG_FILES } from './longest-first.ts';

test('every file that is to run before the others is in the repository', () => {
  const missing = LONG_FILES.filter((name) => !existsSync(new URL(`../${name}.test.ts`, import.meta.url)));
  expect(missing).toEqual([]);
});
