import { isPayable } from '../../core/config/access.ts';
import type { Config } from '../../core/config/config.ts';
import { loadConfig } from '../../core/config/load.ts';
import { knownChain } from '../../core/domain/networks.ts';
import { walletOf } from '../../demo/chain/sender.ts';

/** A configuration that sells calls on Base Sepolia through the facilitator at `url`; no chain is asked. */
export function sellingThrough(url: string): Pick<Config, 'payment'> {
  const facts = knownChain('base-sepolia');
  const token = facts?.tokens.find(isPayable);
  if (facts === undefined || token === undefined) throw new Error('Base Sepolia is built in');
  const payTo = walletOf('merchant of the tests').address;
  return {
    payment: {
      ...loadConfig({ env: {} }).payment,
      facilitatorUrl: url,
      accept: [{ chain: 'eip155:84532', slug: facts.slug, token, payTo, rpcUrls: [] }],
    },
  };
}
