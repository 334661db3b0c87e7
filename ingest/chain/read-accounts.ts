import type { Address } from '../../core/domain/address.ts';
import { type AccountFacts, AccountsUnread } from './block-source.ts';
import { ProviderContradiction, RpcFailure } from './rpc-failure.ts';
import type { Question, RpcPool } from './rpc-pool.ts';

/** Nobody waits for these answers, so a node that refuses them is not asked for long. */
const ATTEMPTS_MAX = 2;
/** A quantity of JSON-RPC that fits 256 bits. */
const WIDE_QUANTITY = /^0x[0-9a-f]{1,64}$/i;

/** Nonce and balance of each account, at the newest block that the node has. */
export async function readAccounts(pool: RpcPool, addresses: readonly Address[]): Promise<AccountFacts[]> {
  const questions = addresses.flatMap((address) => [
    accountQuestion('eth_getTransactionCount', address),
    accountQuestion('eth_getBalance', address),
  ]);
  try {
    const answers = await pool.askAll(questions);
    return addresses.map((address, index) => {
      const [nonce = 0n, balance = 0n] = answers.slice(2 * index); // askAll answers every question
      return { address, nonce: Number(nonce), balance };
    });
  } catch (error) {
    if (error instanceof RpcFailure || error instanceof ProviderContradiction)
      throw new AccountsUnread(error);
    throw error;
  }
}

function accountQuestion(
  method: 'eth_getTransactionCount' | 'eth_getBalance',
  address: Address,
): Question<bigint> {
  return {
    method,
    params: [address, 'latest'],
    read: (result) => {
      if (typeof result !== 'string' || !WIDE_QUANTITY.test(result))
        throw new ProviderContradiction('malformed', `${method} is not as JSON-RPC defines it`);
      const quantity = BigInt(result);
      if (method === 'eth_getTransactionCount' && quantity > BigInt(Number.MAX_SAFE_INTEGER))
        throw new ProviderContradiction('malformed', `${method} is more than an account can send`);
      return quantity;
    },
    givesUp: (_trouble, attempts) => attempts >= ATTEMPTS_MAX,
  };
}
