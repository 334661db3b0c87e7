import fc from 'fast-check';
import { expect, test } from 'vitest';
import { repeatedName, uniqueNames } from '../../../sandbox/results/column-names.ts';

const names: fc.Arbitrary<string[]> = fc.array(fc.constantFrom('a', 'a_2', 'a_2_2', 'a_3', 'b', ''), {
  maxLength: 30,
});

test('the first free number makes a repeated name unique', () => {
  expect(uniqueNames(['n', 'n', 'n_2', 'n', 'm'])).toEqual(['n', 'n_2', 'n_2_2', 'n_3', 'm']);
  fc.assert(
    fc.property(names, (given) => {
      const taken = new Set<string>();
      const expected = given.map((name) => {
        let shown: string = name;
        for (let next = 2; taken.has(shown); next += 1) shown = `${name}_${next}`;
        taken.add(shown);
        return shown;
      });
      expect(uniqueNames(given)).toEqual(expected);
    }),
  );
});

test('the first repeated name is found, and none where all differ', () => {
  fc.assert(
    fc.property(names, (given) => {
      expect(repeatedName(given)).toBe(given.find((name, at) => given.indexOf(name) !== at));
    }),
  );
});
