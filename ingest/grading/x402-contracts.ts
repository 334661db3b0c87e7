import { type Address, address } from '../../core/domain/address.ts';
import { type Chain, chainIdOf } from '../../core/domain/chain.ts';

/** Contracts that exist for x402 only. Source: protocol.md 1.8 (@x402/evm 2.27.0) and 2.4 (x402-exec networks.ts). */

/** Deployed by CREATE2 at the same place on every chain. */
const PERMIT2_PROXIES = [
  address('0x402085c248EeA27D92E8b30b2C58ed07f9E20001'), // x402ExactPermit2Proxy
  address('0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002'), // x402UptoPermit2Proxy
];

/** Base Sepolia also carries the first deployment of the upto proxy. */
const OLDER_PERMIT2_PROXIES: ReadonlyMap<number, readonly Address[]> = new Map([
  [84532, [address('0x402039b3d6E6BEC5A02c2C9fd937ac17A6940002')]],
]);

const SETTLEMENT_ROUTERS: ReadonlyMap<number, readonly Address[]> = new Map([
  [8453, [address('0x73fc659Cd5494E69852bE8D9D23FE05Aab14b29B')]],
  [84532, [address('0x817e4f0ee2fbdaac426f1178e149f7dc98873ecb')]],
  [196, [address('0x73fc659Cd5494E69852bE8D9D23FE05Aab14b29B')]],
  [56, [address('0x1Ae0E196dC18355aF3a19985faf67354213F833D')]],
]);

export function permit2ProxiesOf(chain: Chain): readonly Address[] {
  return [...PERMIT2_PROXIES, ...(OLDER_PERMIT2_PROXIES.get(chainIdOf(chain)) ?? [])];
}

export function settlementRoutersOf(chain: Chain): readonly Address[] {
  return SETTLEMENT_ROUTERS.get(chainIdOf(chain)) ?? [];
}
