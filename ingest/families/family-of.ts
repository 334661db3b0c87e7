import type { ChainConfig } from '../../core/config/chains.ts';
import type { Namespace } from '../../core/domain/account.ts';
import { namespaceOf } from '../../core/domain/chains.ts';
import { EVM } from './evm.ts';
import type { Family } from './family.ts';
import { SOLANA } from './solana.ts';

const FAMILIES: Readonly<Record<Namespace, Family>> = { eip155: EVM, solana: SOLANA };

/** The family of a chain. */
export function familyOf({ chain }: Pick<ChainConfig, 'chain'>): Family {
  return FAMILIES[namespaceOf(chain)];
}
