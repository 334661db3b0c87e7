import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('every dependency is justified in docs/decisions', () => {
  const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read('package.json')) as Record<
    string,
    Record<string, string>
  >; // our own file
  const decisions = read('docs/decisions/0001-dependencies.md');
  const names = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
  const isNamed = (name: string): boolean =>
    decisions.includes(`\`${name}\``) || decisions.includes(`\`${name.split('/')[0]}/*\``);
  expect(names.filter((name) => !isNamed(name))).toEqual([]);
});
