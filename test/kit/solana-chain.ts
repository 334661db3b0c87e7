import type { ChainConfig } from '../../core/config/chains.ts';
import { loadConfig } from '../../core/config/load.ts';
import { type Address, address } from '../../core/domain/account.ts';
import type { TokenFacts } from '../../core/domain/chains.ts';
import { createLog } from '../../core/log.ts';
import { seededRandom } from '../../demo/random.ts';
import { readSolanaNaively } from '../../demo/solana/naive-reader.ts';
import { type SolanaNode, startSolana } from '../../demo/solana/node.ts';
import { caip2Of } from '../../demo/solana/programs.ts';
import {
  createRandomTransactions,
  NOT_OF_THE_SCHEME,
  type RandomTransactions,
  type SolanaKind,
} from '../../demo/solana/random-transactions.ts';
import { installRandomWorld } from '../../demo/solana/random-world.ts';
import type { SolanaFilter } from '../../ingest/chain/solana/block.ts';
import { createSolanaSource, type SolanaSource } from '../../ingest/chain/solana/source.ts';
import { isCandidate } from '../../ingest/decode/solana/shape.ts';

/** A local Solana whose blocks hold random transactions, with slots skipped between them, and a source over it. */
export interface SolanaChain {
  readonly node: SolanaNode;
  readonly chain: `solana:${string}`;
  readonly filter: SolanaFilter;
  /** Who pay fees for others. */
  readonly feePayers: readonly Address[];
  readonly transactions: RandomTransactions;
  /** The kind of each transaction that was executed, by its id. */
  readonly kinds: ReadonlyMap<string, SolanaKind>;
  /** Makes so many blocks; each may have one of `others` too, kinds that are not drawn by themselves. */
  grow(blocks: number, others?: readonly SolanaKind[]): Promise<void>;
}

const TRANSACTIONS_MAX = 4;

export async function startSolanaChain(seed: number): Promise<SolanaChain> {
  const node = await startSolana({ genesisTime: 1_790_000_000, skippedShare: 0.3, seed });
  const { ledger, network } = node;
  const world = await installRandomWorld(ledger, { usdc: network.usdc, seed });
  const random = seededRandom(seed);
  const transactions = createRandomTransactions(ledger, world, random);
  const kinds = new Map<string, SolanaKind>();
  return {
    ...{ node, transactions, kinds },
    chain: caip2Of(network),
    filter: { mints: new Set([world.mints.usdc, world.mints.withFee]), isCandidate },
    feePayers: world.feePayers.map((feePayer) => address(feePayer.address)),
    async grow(blocks, others = []) {
      for (let block = 0; block < blocks; block++) {
        const asked = others.filter(() => random.chance(1 / 4));
        const drawn = Array.from({ length: random.below(TRANSACTIONS_MAX + 1) }, () => undefined);
        for (const next of [...drawn, ...asked]) {
          const { kind, wire } = await transactions.next(next);
          const outcome = ledger.submit(wire);
          if ('refused' in outcome) throw new Error(`${kind} is refused: ${JSON.stringify(outcome.refused)}`);
          kinds.set(outcome.signature, kind);
        }
        ledger.produce();
      }
    },
  };
}

const LIMITS = { requestTimeoutMs: 2_000, backOffFirstMs: 1, backOffMaxMs: 5 };

/**
 * The payments that an index owes of the final blocks, by an independent reading of balances; each as `placed` shows it, in order. With
 * `feePayers`, of those alone whose fee one of them paid.
 */
export async function owedPayments(
  { node, filter, kinds }: SolanaChain,
  feePayers?: readonly string[],
): Promise<string[]> {
  const { payments } = await readSolanaNaively(node.url, { mints: [...filter.mints], from: 0 });
  return payments
    .filter(
      ({ isSponsored, signature, feePayer }) =>
        isSponsored &&
        (feePayers?.includes(feePayer) ?? true) &&
        !NOT_OF_THE_SCHEME.has(kinds.get(signature) ?? 'memoOnly'),
    )
    .map(({ slot, signature, payer, payee, amount }) => placed({ slot, id: signature, payer, payee, amount }))
    .sort();
}

export function placed(row: {
  readonly slot: number;
  readonly id: string;
  readonly payer: string;
  readonly payee: string;
  readonly amount: bigint | string;
}): string {
  return [row.slot, row.id, row.payer, row.payee, row.amount].join(' ');
}

export type Completeness = ChainConfig['completeness'];

/** A source that waits hardly at all after failures. */
export function solanaSource(
  chain: `solana:${string}`,
  rpcUrls: readonly string[],
  {
    signal = new AbortController().signal,
    completeness = 'every-block',
  }: { readonly signal?: AbortSignal; readonly completeness?: Completeness | undefined } = {},
): SolanaSource {
  return createSolanaSource(
    { chain, rpcUrls, requestsPerSecond: 100_000, completeness },
    { log: createLog('silent', 'test'), signal, limits: LIMITS },
  );
}

/** The tokens of the world, as a configuration has them. */
export function solanaTokens({
  filter: { mints },
}: Pick<SolanaChain, 'filter'>): readonly [TokenFacts, TokenFacts] {
  const [usdc] = loadConfig({ env: { CHAINS: 'solana-devnet' } }).chains[0]?.tokens ?? [];
  if (usdc === undefined) throw new Error('Solana Devnet is built in');
  const [, withFee = ''] = mints;
  return [usdc, { ...usdc, address: address(withFee), symbol: 'FEE', paidBy: 'token-2022' }];
}
