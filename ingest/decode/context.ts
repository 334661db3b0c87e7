import type { DeadLetter, DeadLetterReason } from '../../clickhouse/tables/ingest-state.ts';
import type { ChainConfig } from '../../core/config/chains.ts';
import type { Address } from '../../core/domain/account.ts';
import { type Chain, REGISTRY_ROLES, type RegistryRole, type TokenFacts } from '../../core/domain/chains.ts';
import type { RawLog } from '../chain/block-source.ts';
import { permit2ProxiesOf, settlementRoutersOf } from '../grading/built-in.ts';
import type { Catalogue } from '../grading/catalogue.ts';
import { type ChannelContract, channelContractsOf, type KnownTerms, NO_TERMS } from './channels/moves.ts';

/** The facts about a chain that decoding needs. Fixed for the life of a worker. */
export interface DecodeContext {
  readonly chain: Chain;
  /** EIP-3009 tokens that are indexed. */
  readonly tokens: ReadonlyMap<Address, TokenFacts>;
  /** x402's Permit2 proxies, whose `Settled` marks a payment. */
  readonly proxies: ReadonlySet<Address>;
  /** ERC-8004 registries. No contract has two roles, nor is a token or a proxy as well. */
  readonly registries: ReadonlyMap<Address, RegistryRole>;
  /** Contracts that hold money between a payer and a payee. */
  readonly channels: ReadonlyMap<Address, ChannelContract>;
  /** Parties of channels, from earlier blocks than those of a batch. */
  readonly knownTerms: KnownTerms;
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
    channels: channelContractsOf(chain),
    knownTerms: NO_TERMS,
    x402Contracts: new Set([...proxies, ...settlementRoutersOf(chain)]),
    isCataloguedPayee: (payee) => catalogue.isPayee(chain, payee),
  };
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
