import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { waitWhileItProgresses } from '../../core/process/standstill.ts';
import { expectChannelsHold } from './channel-balances.ts';
import type { ExpectedRow } from './oracle/naive-reader.ts';
import { oracle } from './oracle/oracle.ts';
import type { TruthWorld } from './truth-world.ts';

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
  const { tx_hash, log_index, block_number, block_time, payer, payee, asset, amount } = row;
  const { relayer, facilitator, kind, channel, fee_amount } = row;
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
    kind,
    channel,
    fee_amount,
  };
}

/** Whether the rows are the same, in whatever order. */
export function areSameRows(served: readonly ExpectedRow[], truth: readonly ExpectedRow[]): boolean {
  return isDeepStrictEqual(inOrder(served), inOrder(truth));
}

/** Row for row, with a message that names missing and additional rows before the whole difference. */
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

/** What `/v0/telemetry` says of a chain, as far as these tests look. */
interface ChainTelemetry {
  readonly indexed_block: number | null;
  readonly state: string;
  readonly last_error: string | null;
  readonly backfill: { readonly blocks_done: number };
  readonly reorgs: number;
  readonly contradictions: number;
}

interface Telemetry {
  /** Of the service as a whole. */
  readonly status: string;
  readonly chains: readonly ChainTelemetry[];
}

/** Of the service's only chain. */
export async function telemetry(url: string): Promise<ChainTelemetry & Pick<Telemetry, 'status'>> {
  const answer = await fetch(`${url}/v0/telemetry`);
  const { status, chains } = (await answer.json()) as Telemetry; // the part these tests look at
  const [chain] = chains;
  if (!chain) throw new Error('no chain in telemetry');
  return { ...chain, status };
}

/** Waits, while the index gets on, until it says that it is at the chain's tip with nothing left to fill. */
export async function caughtUp(made: TruthWorld, url: string): Promise<void> {
  await waitWhileItProgresses('the index is at the tip', async () => {
    const head = Number(await made.chain.rpc.call<string>('eth_blockNumber'));
    const chain = await telemetry(url);
    return {
      done: chain.indexed_block === head && chain.state === 'following',
      at: `${standing(chain)}, tip ${head}`,
    };
  });
}

/**
 * Waits, while the index gets on, until the API serves what a naive reader computes from the chain's receipts. That the index
 * is at the tip is not enough: it may not have seen yet that another block took the newest one's place. Then each payment channel holds
 * what its contract says.
 */
export async function expectTruth(made: TruthWorld, url: string): Promise<void> {
  await caughtUp(made, url);
  const truth = await oracle.settlements.ofChain(made.chain.rpc, made.catalogue);
  if (truth.length === 0) throw new Error('the chain has nothing to compare');
  await waitWhileItProgresses('the served rows equal the rows of the chain', async () => {
    const served = await readServed(url);
    const at = `${standing(await telemetry(url))}, ${served.length} of ${truth.length} rows`;
    return { done: areSameRows(served, truth), at };
  }).catch(async (standstill: unknown) => {
    expectSameRows(await readServed(url), truth); // says which rows
    throw standstill;
  });
  await expectChannelsHold(made.chain.rpc, url, truth);
}

function standing({ indexed_block, state, backfill }: ChainTelemetry): string {
  return `${state}, block ${indexed_block}, ${backfill.blocks_done} filled`;
}
