import { expect, it } from 'vitest';
import { fieldLook, valueFault } from '../../../console/sql/parameter-values.ts';

it('takes values of the type and says which would be right for others', () => {
  const cases: readonly (readonly [type: string, good: string, bad: string])[] = [
    ['UInt8', '255', '256'],
    ['Int8', '-128', '-129'],
    ['UInt256', String(2n ** 256n - 1n), String(2n ** 256n)],
    ['Nullable(UInt16)', '\\N', 'x'],
    ['Decimal(38, 6)', '-0.000001', '1,5'],
    ['Float64', '1e-7', 'one'],
    ['Date', '2026-11-20', '2026-13-01'],
    ['DateTime', '2026-11-20T12:00:00Z', 'today'],
    ["DateTime64(3, 'UTC')", '2026-11-20 12:00:00.5', '2026-11-20 25:00'],
    ['Bool', 'true', 'yes'],
    ["Enum8('head' = 1, 'finalized' = 2)", 'head', 'Head'],
    ['Array(String)', "['a']", 'a'],
    ['String', `0x${'a'.repeat(40)}`, `0x${'A'.repeat(40)}`],
    ['UInt8', '0', '\\N'],
  ];
  for (const [type, good, bad] of cases) {
    expect(valueFault(type, good), `${type} ${good}`).toBeNull();
    expect(valueFault(type, bad), `${type} ${bad}`).toMatch(/\.$/);
  }
});

it('has the choices of a closed type, whatever is in the names', () => {
  expect(fieldLook("Nullable(Enum16('it\\'s' = 1, 'b' = 2))").choices).toEqual(["it's", 'b']);
  expect(fieldLook('Bool').choices).toEqual(['true', 'false']);
  expect(fieldLook('UInt64').choices).toBeNull();
});
