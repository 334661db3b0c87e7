import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  aboutText,
  agoText,
  blockText,
  changeText,
  coinText,
  datesFrom,
  groupDigits,
  microsOf,
  moneyText,
  placeText,
  shareText,
  shortAddress,
  timeText,
  usdText,
  usdTextOfMicros,
} from '../../console/format.ts';

describe('values', () => {
  it('decimals keep every digit', () => {
    expect(groupDigits('340282366920938463463374607431768211455.000001')).toBe(
      '340,282,366,920,938,463,463,374,607,431,768,211,455.000001',
    );
    expect(usdText('12345678901234567890.123456')).toBe('$12,345,678,901,234,567,890.123456');
    expect([usdText(1284.03), usdText(0.000001), usdText('0.5'), usdText(-3)]).toEqual([
      '$1,284.03',
      '$0.000001',
      '$0.50',
      '-$3.00',
    ]);
  });

  it('money has two decimals from a dollar on, and two to four significant ones below it', () => {
    const amounts = [
      '1284.029999',
      '0.125',
      '0.0125',
      '0.000125',
      '0.05',
      '0.123456',
      '0.99996',
      '0',
      '-0.004',
      3,
    ];
    expect(amounts.map(moneyText)).toEqual([
      '$1,284.03',
      '$0.125',
      '$0.0125',
      '$0.000125',
      '$0.05',
      '$0.1235',
      '$1.00',
      '$0.00',
      '-$0.004',
      '$3.00',
    ]);
  });

  it('money is never off by more than half a cent in a dollar', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 18n }),
        fc.integer({ min: 0, max: 18 }),
        (digits, places) => {
          const whole = digits.toString().padStart(places + 1, '0');
          const decimal = places === 0 ? whole : `${whole.slice(0, -places)}.${whole.slice(-places)}`;
          const shown = Number(moneyText(decimal).replace(/[$,]/g, ''));
          const exact = Number(decimal);
          expect(Math.abs(shown - exact)).toBeLessThanOrEqual(0.0051 * exact);
        },
      ),
    );
  });

  it('changes are percentages with a sign, and multiples where they are large', () => {
    expect([0.12, -0.034, 0, 0.0001, 11, -1].map(changeText)).toEqual([
      '+12%',
      '−3.4%',
      '0%',
      'under 0.1%',
      '×12',
      '−100%',
    ]);
  });

  it('rounded figures have three digits', () => {
    expect([aboutText(7), aboutText(1_234), aboutText(-4_500_000), aboutText(0.00125)]).toEqual([
      '7',
      '1.23k',
      '-4.5M',
      '0.00125',
    ]);
  });

  it('dates run from the first to the last, over the end of a month', () => {
    expect(datesFrom('2026-10-30', '2026-11-02')).toEqual([
      '2026-10-30',
      '2026-10-31',
      '2026-11-01',
      '2026-11-02',
    ]);
    expect([datesFrom('2026-11-02', '2026-11-02'), datesFrom('2026-11-02', '2026-11-01')]).toEqual([
      ['2026-11-02'],
      [],
    ]);
  });

  it('times are in UTC, and short addresses keep both ends', () => {
    expect(timeText('2026-11-20T09:15:04Z')).toBe('2026-11-20 09:15:04 UTC');
    expect(agoText('2026-11-20T09:15:04Z', Date.parse('2026-11-20T09:17:04Z'))).toBe('2 min ago');
    expect(shortAddress('0x4020615294c913f045dc10f0a5cdebd86c280001')).toBe('0x4020…0001');
  });
});

describe('money', () => {
  it('sums of dollars on a page are exact', () => {
    const sum = [0.1, 0.2, 0.000001, 8_000_000_000.123456].reduce((total, usd) => total + microsOf(usd), 0n);
    expect(sum).toBe(8_000_000_000_423_457n);
    expect(usdTextOfMicros(sum)).toBe('$8,000,000,000.423457');
    expect(usdTextOfMicros(microsOf(0.000001))).toBe('$0.000001');
    expect(usdTextOfMicros(microsOf(-12.5))).toBe('-$12.50');
  });

  it('a share is 100 % only of everything and 0 % only of nothing', () => {
    expect(shareText(999_999n, 1_000_000n)).toBe('99.9%');
    expect(shareText(1_000_000n, 1_000_000n)).toBe('100%');
    expect(shareText(1n, 1_000_000n)).toBe('under 0.1%');
    expect(shareText(0n, 1_000_000n)).toBe('0%');
    expect(shareText(0n, 0n)).toBeNull();
  });

  it('wei are cut to six decimals, never rounded up', () => {
    expect(coinText('183204117702250048')).toBe('0.183204');
    expect(coinText('1999999999999999999')).toBe('1.999999');
    expect(coinText('1234000000000000000000')).toBe('1,234');
    expect(coinText('0')).toBe('0');
  });
});

it('a place in a block is a log, and on Solana a slot, a transaction and an instruction', () => {
  const solana = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
  expect([blockText('eip155:8453', 12_345), placeText('eip155:8453', 2_050)]).toEqual([
    'block 12,345',
    'log 2,050',
  ]);
  expect([blockText(solana, 12_345), placeText(solana, 2_050)]).toEqual([
    'slot 12,345',
    'transaction 2, instruction 2',
  ]);
});
