import { describe, expect, test } from 'vitest';
import { dayText, isoTimeOf, secondText } from '../../../sandbox/judge/literals/times.ts';

describe('isoTimeOf', () => {
  test.each([
    ['2026-11-20T12:00:00Z', '2026-11-20 12:00:00', ''],
    ['2026-11-20t12:00:00z', '2026-11-20 12:00:00', ''],
    ['2026-11-20 12:00:00Z', '2026-11-20 12:00:00', ''],
    ['2026-11-20T12:00:00+02:00', '2026-11-20 10:00:00', ''],
    ['2026-11-20T00:30:00-0130', '2026-11-20 02:00:00', ''],
    ['2026-11-20T12:00+02', '2026-11-20 10:00:00', ''],
    ['2026-11-20T12:00', '2026-11-20 12:00:00', ''],
    ['2026-11-20T12:00:00.000Z', '2026-11-20 12:00:00', ''],
    ['2026-11-20T12:00:00.120Z', '2026-11-20 12:00:00', '12'],
    ['2026-11-20T12:00:00.123456', '2026-11-20 12:00:00', '123456'],
  ])('%s is %s in UTC', (text, plain, fraction) => {
    const time = isoTimeOf(text);
    expect(time && [secondText(time), time.fraction]).toEqual([plain, fraction]);
  });

  test.each([
    '2026-11-20 12:00:00', // the engine reads it
    '2026-11-20T12:00:00',
    '2026-11-20',
    '2026-02-30T00:00:00Z',
    '2026-11-20T24:00:00Z',
    '2026-11-20T12:60:00Z',
    '1960-01-01T00:00:00Z',
    "2026-11-20T12:00:00Z' OR 1",
    'x2026-11-20T12:00:00Z',
    '20261120T120000Z',
    '',
  ])('%j is none', (text) => expect(isoTimeOf(text)).toBeUndefined());

  test('a day begins at midnight of UTC, and at no other time', () => {
    const day = (text: string) => {
      const time = isoTimeOf(text);
      return time && dayText(time);
    };
    expect(day('2026-11-20T00:00:00.000Z')).toBe('2026-11-20');
    expect(day('2026-11-20T02:00:00+02:00')).toBe('2026-11-20');
    expect(day('2026-11-20T00:00:01Z')).toBeUndefined();
    expect(day('2026-11-20T00:00:00.5Z')).toBeUndefined();
  });
});
