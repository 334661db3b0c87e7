import type { Settlement } from '../../../clickhouse/tables/settlements.ts';

/** The other way to the answers of docs/cookbook.md: plain loops over the rows, dollars in millionths, days as numbers since 1970. */

const DAY_SECONDS = 86_400;

export const dayOf = ({ blockTime }: Settlement): number => Math.floor(blockTime / DAY_SECONDS);
/** The Monday of a day's week; 1970-01-01 was a Thursday. */
const mondayOf = (day: number): number => day - ((day + 3) % 7);
export const dayText = (day: number): string =>
  new Date(day * DAY_SECONDS * 1_000).toISOString().slice(0, 10);

export function sumUsd(rows: readonly Settlement[]): bigint {
  return rows.reduce((sum, { amountUsdMicros }) => sum + amountUsdMicros, 0n);
}

export function groups<K>(rows: readonly Settlement[], keyOf: (row: Settlement) => K): Map<K, Settlement[]> {
  const found = new Map<K, Settlement[]>();
  for (const row of rows) {
    const group = found.get(keyOf(row)) ?? [];
    found.set(keyOf(row), group);
    group.push(row);
  }
  return found;
}

/** A decimal as the engine prints it, in millionths. */
export function microsOf(text: unknown): bigint {
  const [, sign = '', whole = '', rest = ''] = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(String(text)) ?? [];
  if (whole === '') throw new Error(`${String(text)} is no decimal of six digits`);
  const micros = BigInt(whole) * 1_000_000n + BigInt(rest.padEnd(6, '0'));
  return sign === '-' ? -micros : micros;
}

/** The Herfindahl-Hirschman index of the payers of `rows`. */
export function concentration(rows: readonly Settlement[]): number {
  const total = Number(sumUsd(rows));
  return [...groups(rows, ({ payer }) => payer).values()].reduce(
    (index, group) => index + (Number(sumUsd(group)) / total) ** 2,
    0,
  );
}

/** The amount that occurs most, of two as frequent the larger. */
export function modalPrice(rows: readonly Settlement[]): bigint {
  let modal = { price: -1n, count: 0 };
  for (const [price, group] of groups(rows, ({ amountUsdMicros }) => amountUsdMicros)) {
    const isMore = group.length > modal.count || (group.length === modal.count && price > modal.price);
    if (isMore) modal = { price, count: group.length };
  }
  return modal.price;
}

/** New payers of each week, and how many of them paid again one to four weeks later. */
export function cohorts(rows: readonly Settlement[]): Map<number, { payers: number; again: number[] }> {
  const table = new Map<number, { payers: number; again: number[] }>();
  for (const group of groups(rows, ({ payer }) => payer).values()) {
    const weeks = new Set(group.map((row) => mondayOf(dayOf(row))));
    const first = Math.min(...weeks);
    const cohort = table.get(first) ?? { payers: 0, again: [0, 0, 0, 0] };
    table.set(first, cohort);
    cohort.payers += 1;
    cohort.again = cohort.again.map((count, later) => count + Number(weeks.has(first + (later + 1) * 7)));
  }
  return table;
}

/** Runs of days in a row with a payment, of every payer. */
export function streaks(
  rows: readonly Settlement[],
): { payer: string; from: number; to: number; days: number }[] {
  return [...groups(rows, ({ payer }) => payer)].flatMap(([payer, group]) => {
    const days = [...new Set(group.map(dayOf))].sort((a, b) => a - b);
    const found: { payer: string; from: number; to: number; days: number }[] = [];
    for (const day of days) {
      const open = found.at(-1);
      if (open?.to === day - 1) {
        open.to = day;
        open.days += 1;
      } else {
        found.push({ payer, from: day, to: day, days: 1 });
      }
    }
    return found;
  });
}
