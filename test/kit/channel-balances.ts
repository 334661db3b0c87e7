import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { expect } from 'vitest';
import { BATCH_SETTLEMENT } from '../../demo/chain/channels.ts';
import type { ExpectedRow } from './oracle/naive-reader.ts';

interface Rpc {
  call<T>(method: string, ...params: unknown[]): Promise<T>;
}

const ABI = parseAbi(['function channels(bytes32) view returns (uint128 balance, uint128 totalClaimed)']);

/** What the contract says of a payment channel: deposits less claims, refunds and withdrawals, in atomic units. */
export async function heldByContract(rpc: Rpc, channel: Hex): Promise<bigint> {
  const data = encodeFunctionData({ abi: ABI, args: [channel] });
  const result = await rpc.call<string>('eth_call', { to: BATCH_SETTLEMENT, data }, 'latest');
  return BigInt(result.slice(0, 66)) - BigInt(`0x${result.slice(66, 130)}`);
}

/** As far as a channel's balance needs it. */
interface Served {
  readonly kind: string;
  readonly scheme: string;
  readonly amount: string;
}

const PAGE = 100;
const PUTS_IN = 'deposit';

/** The rows that are served of each payment channel among these add up to what its contract holds. */
export async function expectChannelsHold(rpc: Rpc, url: string, rows: readonly ExpectedRow[]): Promise<void> {
  const ids = new Set(rows.map(({ channel }) => channel).filter((channel) => channel !== null));
  for (const id of ids) {
    const answer = await fetch(`${url}/v0/transactions?channel=${id}&limit=${PAGE}`);
    const { transactions } = (await answer.json()) as { readonly transactions: readonly Served[] }; // of our own API
    if (transactions.length === PAGE) throw new Error(`${id} has more rows than a page`);
    if (transactions[0]?.scheme !== 'batch-settlement') continue;
    const balance = transactions.reduce(
      (sum, { kind, amount }) => (kind === PUTS_IN ? sum + BigInt(amount) : sum - BigInt(amount)),
      0n,
    );
    expect([id, balance]).toEqual([id, await heldByContract(rpc, id as Hex)]);
  }
}
