import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { ExpectedRow } from './naive-reader.ts';

interface Served extends Omit<ExpectedRow, 'method'> {
  readonly evidence: { readonly method: string };
}

interface Page {
  readonly transactions: readonly Served[];
  readonly next_before: string | null;
}

/** Walks /v0/transactions to its end and gives the rows oldest first, in the shape of the naive reader. */
export async function readServed(url: string, limit = 100): Promise<ExpectedRow[]> {
  const rows: ExpectedRow[] = [];
  for (let before: string | null = ''; before !== null; ) {
    const cursor: string = before === '' ? '' : `&before=${encodeURIComponent(before)}`;
    const answer: Response = await fetch(`${url}/v0/transactions?limit=${limit}${cursor}`);
    if (answer.status !== 200)
      throw new Error(`status ${answer.status}: ${(await answer.text()).slice(0, 300)}`);
    const page = (await answer.json()) as Page; // compared field by field right after
    rows.push(...page.transactions.map(pick));
    before = page.next_before;
  }
  return rows.reverse();
}

function pick(row: Served): ExpectedRow {
  const { tx_hash, log_index, block_number, block_time, payer, payee, asset, amount, relayer, facilitator } =
    row;
  return {
    tx_hash,
    log_index,
    block_number,
    block_time,
    payer,
    payee,
    asset,
    amount,
    relayer,
    facilitator,
    method: row.evidence.method,
  };
}

/** Whether the rows are the same, in whatever order. */
export function areSameRows(served: readonly ExpectedRow[], truth: readonly ExpectedRow[]): boolean {
  return isDeepStrictEqual(inOrder(served), inOrder(truth));
}

/** Row for row, with a message that says what is missing and what is too much before the whole difference. */
export function expectSameRows(served: readonly ExpectedRow[], truth: readonly ExpectedRow[]): void {
  const key = ({ block_number, tx_hash, log_index }: ExpectedRow): string =>
    `${block_number}/${tx_hash}/${log_index}`;
  const servedKeys = served.map(key);
  const truthKeys = new Set(truth.map(key));
  const found = new Set(servedKeys);
  expect({
    missing: truth.filter((row) => !found.has(key(row))),
    extra: served.filter((row) => !truthKeys.has(key(row))),
    duplicates: servedKeys.length - found.size,
  }).toEqual({ missing: [], extra: [], duplicates: 0 });
  expect(inOrder(served)).toEqual(inOrder(truth));
}

function inOrder(rows: readonly ExpectedRow[]): ExpectedRow[] {
  return [...rows].sort((a, b) => a.block_number - b.block_number || a.log_index - b.log_index);
}
