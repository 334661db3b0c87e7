import type { PaymentConfig } from '../../core/config/config.ts';
import { knownChain } from '../../core/domain/known-chains.ts';
import type { ChainWitness } from './chain-witness.ts';
import { createRpcWitness, noWitness } from './rpc-witness.ts';

/** eth_getLogs range for a chain that is not in our table: small enough for every public node. */
const LOG_WINDOW_DEFAULT = 100;

/** The witness of every chain that we are paid on and have an RPC for; `noWitness` for the others, and when none is wanted. */
export function openWitnesses({
  accept,
  confirmOnChain,
}: Pick<PaymentConfig, 'accept' | 'confirmOnChain'>): (chain: string) => ChainWitness {
  const witnesses = new Map<string, ChainWitness>();
  for (const { chain, rpcUrls } of confirmOnChain ? accept : []) {
    const httpUrls = rpcUrls.filter((url) => /^https?:/i.test(url));
    if (httpUrls.length === 0) continue;
    const logWindowMax = knownChain(chain)?.logWindowMax ?? LOG_WINDOW_DEFAULT;
    witnesses.set(chain, createRpcWitness({ rpcUrls: httpUrls, logWindowMax }));
  }
  return (chain) => witnesses.get(chain) ?? noWitness;
}
