import { type Hex, keccak256, stringToHex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { type Address, address, type Hash } from '../../core/domain/account.ts';
import type { Rpc, RpcCall } from './json-rpc.ts';

/** A key pair of the local world. Worthless by construction: it derives from its label. */
export interface Wallet {
  readonly address: Address;
  readonly privateKey: Hex;
}

/** The same label always gives the same wallet, so that runs can be compared. */
export function walletOf(label: string): Wallet {
  const privateKey = keccak256(stringToHex(`settlement-index local world: ${label}`));
  return { privateKey, address: address(privateKeyToAccount(privateKey).address.toLowerCase()) };
}

export interface Transaction {
  /** Any address: the node impersonates it and the sender funds it. */
  readonly from: Address;
  readonly to: Address;
  readonly data?: Hex;
  readonly gas?: bigint;
}

export interface Sender {
  send(transaction: Transaction): Promise<Hash>;
  /** Puts all of them into the pool in few requests. Per address the order holds; between addresses the node chooses. */
  sendAll(transactions: readonly Transaction[]): Promise<Hash[]>;
  /** After a rollback: nonces and balances are the node's again, not the remembered ones. */
  forget(): void;
}

/** Twice what a relayed payment takes through a router; an explicit limit saves one estimate per transaction. */
const DEFAULT_GAS = 400_000n;
const FEE_PER_GAS = '0x2540be400';
const FUNDS = '0xd3c21bcecceda1000000';

/**
 * Sends from any number of addresses with nonces counted here, so that hundreds can be in flight without a race for the same
 * nonce. One sender per chain: two would count the same nonces.
 */
export function createSender(rpc: Rpc): Sender {
  const nonces = new Map<Address, Promise<{ next: number }>>();

  const open = async (from: Address): Promise<{ next: number }> => {
    await rpc.call('anvil_setBalance', from, FUNDS);
    return { next: Number(await rpc.call<Hex>('eth_getTransactionCount', from, 'pending')) };
  };
  const nonceOf = (from: Address): Promise<{ next: number }> => {
    const known = nonces.get(from) ?? open(from);
    nonces.set(from, known);
    return known;
  };
  const prepare = async (transaction: Transaction): Promise<RpcCall> => {
    const nonce = await nonceOf(transaction.from);
    const fields = {
      from: transaction.from,
      to: transaction.to,
      data: transaction.data ?? '0x',
      gas: `0x${(transaction.gas ?? DEFAULT_GAS).toString(16)}`,
      nonce: `0x${nonce.next.toString(16)}`,
      maxFeePerGas: FEE_PER_GAS,
      maxPriorityFeePerGas: '0x0',
    };
    nonce.next += 1;
    return { method: 'eth_sendTransaction', params: [fields] };
  };
  const sendAll = async (transactions: readonly Transaction[]): Promise<Hash[]> => {
    const calls: RpcCall[] = [];
    for (const transaction of transactions) calls.push(await prepare(transaction));
    return rpc.batch<Hash>(calls);
  };
  return {
    sendAll,
    async send(transaction) {
      const [hash] = await sendAll([transaction]);
      if (hash === undefined) throw new Error('the node took the transaction without a hash');
      return hash;
    },
    forget: () => nonces.clear(),
  };
}

/** Mines one block with everything in the pool. `time` in Unix seconds must lie after the newest block's. */
export async function mine(rpc: Rpc, time?: number): Promise<void> {
  await (time === undefined ? rpc.call('evm_mine') : rpc.call('evm_mine', time));
}

/** Mines `count` blocks, `secondsApart` from each other; the first takes the pool, the others stay empty. */
export async function mineMany(rpc: Rpc, count: number, secondsApart = 1): Promise<void> {
  if (count > 0) await rpc.call('anvil_mine', `0x${count.toString(16)}`, `0x${secondsApart.toString(16)}`);
}

interface Receipt {
  readonly status: Hex;
  readonly transactionHash: Hash;
  readonly blockNumber: Hex;
}

/** Throws when one of the transactions is not mined or reverted: a world that silently lacks payments proves nothing. */
export async function requireSuccess(rpc: Rpc, hashes: readonly Hash[]): Promise<void> {
  const calls = hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }));
  const receipts = await rpc.batch<Receipt | null>(calls);
  for (const [index, receipt] of receipts.entries()) {
    if (receipt?.status !== '0x1')
      throw new Error(`transaction ${hashes[index]} ${receipt === null ? 'is not mined' : 'reverted'}`);
  }
}
