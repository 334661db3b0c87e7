import type { Config } from '../../core/config/config.ts';
import { type Chain, chainOf } from '../../core/domain/chain.ts';
import { KNOWN_CHAINS, type TokenFacts } from '../../core/domain/known-chains.ts';

/** Decimals of the dollar tokens that we know: only their amounts are dollars. */
export interface DollarTokens {
  /** Null for a token that is none of ours. */
  decimalsOf(chain: Chain, asset: string): number | null;
}

/** The built-in tokens of every known chain, with the configured ones beside them. */
export function dollarTokens(config: Pick<Config, 'chains'>): DollarTokens {
  const decimals = new Map<string, number>();
  const add = (chain: Chain, tokens: readonly TokenFacts[]) => {
    for (const token of tokens) decimals.set(`${chain} ${token.address}`, token.decimals);
  };
  for (const { chainId, tokens } of KNOWN_CHAINS) add(chainOf(chainId), tokens);
  for (const { chain, tokens } of config.chains) add(chain, tokens);
  return { decimalsOf: (chain, asset) => decimals.get(`${chain} ${asset}`) ?? null };
}
