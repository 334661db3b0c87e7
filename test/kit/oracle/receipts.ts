import type { Hash } from '../../../core/domain/account.ts';
import type { Rpc } from '../../../demo/chain/json-rpc.ts';

/** A log as it stands in a receipt. */
export interface ReceiptLog {
  readonly address: string;
  readonly topics: readonly Hash[];
  readonly data: string;
  readonly blockNumber: string;
  readonly blockHash: Hash;
  readonly transactionHash: Hash;
  readonly logIndex: string;
}

export interface Receipt {
  readonly transactionHash: Hash;
  readonly status: string;
  readonly from: string;
  readonly to: string | null;
  readonly logs: readonly ReceiptLog[];
}

/** Every receipt of [from, to], block by block: the truth that a naive reader would compute from, without eth_getLogs. */
export async function readReceipts(rpc: Rpc, from: number, to: number): Promise<Receipt[]> {
  const calls = Array.from({ length: to - from + 1 }, (_, index) => ({
    method: 'eth_getBlockReceipts',
    params: [`0x${(from + index).toString(16)}`],
  }));
  return (await rpc.batch<Receipt[]>(calls)).flat();
}
