import type { ChainConfig } from '../../core/config/chains.ts';
import type { Address } from '../../core/domain/address.ts';
import { type Chain, REGISTRY_ROLES, type RegistryRole, type TokenFacts } from '../../core/domain/chains.ts';
import type { Hash } from '../../core/domain/settlement.ts';
import type { RawLog } from '../chain/block-source.ts';
import { permit2ProxiesOf, settlementRoutersOf } from '../grading/built-in.ts';
import type { Catalogue } from '../grading/catalogue.ts';

/** The facts about a chain that decoding needs. Fixed for the life of a worker. */
export interface DecodeContext {
  readonly chain: Chain;
  /** EIP-3009 tokens that are indexed. */
  readonly tokens: ReadonlyMap<Address, TokenFacts>;
  /** x402's Permit2 proxies, whose `Settled` marks a payment. */
  readonly proxies: ReadonlySet<Address>;
  /** ERC-8004 registries. No contract has two roles, nor is a token or a proxy as well. */
  readonly registries: ReadonlyMap<Address, RegistryRole>;
  /** Contracts that serve x402 and nothing else: the proxies and the settlement routers. */
  readonly x402Contracts: ReadonlySet<Address>;
  /** Whether a bare transfer to this payee is kept, to be shown as `not_x402`. */
  readonly isCataloguedPayee: (payee: Address) => boolean;
}

export function decodeContextOf(
  config: Pick<ChainConfig, 'chain' | 'tokens' | 'registries'>,
  catalogue: Catalogue,
): DecodeContext {
  const { chain } = config;
  const proxies = permit2ProxiesOf(chain);
  return {
    chain,
    tokens: new Map(config.tokens.map((token) => [token.address, token])),
    proxies: new Set(proxies),
    registries: new Map(
      REGISTRY_ROLES.flatMap((role) => {
        const at = config.registries[role];
        return at === undefined ? [] : [[at, role] as const];
      }),
    ),
    x402Contracts: new Set([...proxies, ...settlementRoutersOf(chain)]),
    isCataloguedPayee: (payee) => catalogue.isPayee(chain, payee),
  };
}

/**
 * Why one of our logs did not become a row.
 * - `malformed_log`: address and topic match one of our events, but the layout does not;
 * - `unpaired_authorization`: an EIP-3009 authorization was used, but no Transfer of the same token belongs to it;
 * - `amount_out_of_range`: the dollar amount does not fit the engine's `Decimal(18, 6)`.
 */
export type DeadLetterReason = 'malformed_log' | 'unpaired_authorization' | 'amount_out_of_range';

/** The row of table `dead_letters`. */
export interface DeadLetter {
  readonly chain: Chain;
  readonly blockNumber: number;
  readonly blockHash: Hash;
  readonly txHash: Hash;
  readonly logIndex: number;
  readonly reason: DeadLetterReason;
  /** The log as JSON. */
  readonly rawLog: string;
}

/** Logs are kept for manual inspection; a hostile contract must not fill the disk with one. */
export const rawLogDataMaxChars = 16_384;
const rawLogTopicsMax = 8;

/** Keeps a log with its reason. The block hash is the log's own: the block of a non-candidate may not have been read. */
export function deadLetterOf(chain: Chain, log: RawLog, reason: DeadLetterReason): DeadLetter {
  const { blockNumber, blockHash, transactionHash: txHash, logIndex } = log;
  const { address, topics, data } = log;
  const cut = data.length > rawLogDataMaxChars || topics.length > rawLogTopicsMax;
  const rawLog = JSON.stringify({
    address,
    topics: topics.slice(0, rawLogTopicsMax),
    data: data.slice(0, rawLogDataMaxChars),
    ...(cut && { truncated: true }),
    blockNumber,
    blockHash,
    transactionHash: txHash,
    logIndex,
  });
  return { chain, blockNumber, blockHash, txHash, logIndex, reason, rawLog };
}
