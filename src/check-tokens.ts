import type { ChainConfig } from '../core/config/chains.ts';
import { addressKey } from '../core/domain/chains.ts';
import type { Log } from '../core/log.ts';
import { tokenFaults } from '../ingest/chain/token-facts.ts';
import type { IsFaultyToken } from './payment/payment-lane.ts';

/**
 * Compares every configured token with its contract once, at the start of a process, and says each fault in the log with the key to
 * correct. A node that does not answer shows no fault. Never rejects.
 */
export function checkTokensAtStart(
  chains: readonly Pick<ChainConfig, 'facts' | 'rpcUrls' | 'tokens' | 'chain'>[],
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): IsFaultyToken {
  const faulty = new Set<string>();
  const check = async ({ chain, facts: known, rpcUrls, tokens }: (typeof chains)[number]): Promise<void> => {
    for (const fault of await tokenFaults({ chain: known, rpcUrls, tokens }, signal)) {
      const { token, detail, advice, stopsPayment } = fault;
      const facts = { chain, token: token.address, advice };
      if (stopsPayment) {
        faulty.add(addressKey({ chain, address: token.address }));
        log.error(facts, `${detail}: this service does not offer payment in it`);
      } else log.warn(facts, detail);
    }
  };
  for (const chain of chains)
    check(chain).catch((error: unknown) => {
      if (!signal.aborted) log.warn({ err: error, chain: chain.chain }, 'the tokens could not be compared');
    });
  return (chain, token) => faulty.has(addressKey({ chain, address: token }));
}
