import type { PaymentConfig } from '../../core/config/access.ts';
import { namespaceOf } from '../../core/domain/chains.ts';
import { knownChain } from '../../core/domain/networks.ts';
import { type ChainConfirmer, createRpcConfirmer, noConfirmer } from './confirm.ts';
import { createSolanaConfirmer } from './solana/confirm.ts';

/** eth_getLogs range for a chain that is not in our table: small enough for every public node. */
const LOG_WINDOW_DEFAULT = 100;

/** The confirmer of every chain that we are paid on and have an RPC for; `noConfirmer` for the others, and where it is switched off. */
export function openConfirmers({
  accept,
  confirmOnChain,
}: Pick<PaymentConfig, 'accept' | 'confirmOnChain'>): (chain: string) => ChainConfirmer {
  const confirmers = new Map<string, ChainConfirmer>();
  for (const { chain, rpcUrls: all } of confirmOnChain ? accept : []) {
    const rpcUrls = all.filter((url) => /^https?:/i.test(url));
    if (rpcUrls.length === 0) continue;
    const logWindowMax = knownChain(chain)?.logWindowMax ?? LOG_WINDOW_DEFAULT;
    confirmers.set(
      chain,
      namespaceOf(chain) === 'solana'
        ? createSolanaConfirmer({ rpcUrls })
        : createRpcConfirmer({ rpcUrls, logWindowMax }),
    );
  }
  return (chain) => confirmers.get(chain) ?? noConfirmer;
}
