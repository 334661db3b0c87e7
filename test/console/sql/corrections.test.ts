import fc from 'fast-check';
import { expect, test } from 'vitest';
import { correctionOf, withEdits } from '../../../console/sql/corrections.ts';
import type { SqlWarning } from '../../../console/wire.ts';
import { withEdits as withEditsOfService } from '../../../core/text-edits.ts';

const NO_TIER = { advised_tier: 'standard' } as const;

test('a correction applies the edits of the service to the text that is open', () => {
  const sql = "SELECT '😀' AS a, count()\r\nFROM settlements WHERE chain = 'base'";
  const from = sql.indexOf("'base'");
  const warning: SqlWarning = {
    code: 'constant_matches_nothing',
    message: '',
    replacement: "'eip155:8453'",
    edits: [{ from, to: sql.length, text: "'eip155:8453'" }],
  };
  expect(correctionOf(warning, { sql }, NO_TIER)).toEqual({
    label: "Write 'eip155:8453'",
    change: { sql: sql.replace("'base'", "'eip155:8453'") },
  });
});

test('a tier that is too small is changed to the one that the estimate advises', () => {
  const warning: SqlWarning = { code: 'tier_too_small', message: '' };
  expect(correctionOf(warning, { sql: '' }, { advised_tier: 'deep' })?.change).toEqual({ tier: 'deep' });
});

test('there is no correction where the visitor has to decide', () => {
  const warning: SqlWarning = { code: 'index_lagging', message: '' };
  expect(correctionOf(warning, { sql: 'SELECT 1' }, NO_TIER)).toBeNull();
});

test('console and service apply edits alike', () => {
  const places = fc.uniqueArray(fc.nat({ max: 40 }), { minLength: 2, maxLength: 10 });
  fc.assert(
    fc.property(fc.string({ minLength: 41 }), places, fc.string(), (text, offsets, by) => {
      const sorted = offsets.toSorted((a, b) => a - b);
      const edits = sorted.flatMap((from, at) =>
        at % 2 === 0 ? [{ from, to: sorted[at + 1] ?? from, text: by }] : [],
      );
      const [first] = edits;
      const all = first === undefined ? edits : [...edits, { from: first.from, to: first.from, text: '+' }];
      expect(withEdits(text, all)).toBe(withEditsOfService(text, all));
    }),
  );
});
