import type { ChainConfig } from '../../core/config/chains.ts';
import type { Address } from '../../core/domain/account.ts';
import type { SolanaBatch, SolanaFilter } from '../chain/solana/block.ts';
import type { SolanaReader } from '../chain/solana/source.ts';
import { decodeSlots } from '../decode/solana/settlements.ts';
import { isCandidate } from '../decode/solana/shape.ts';
import type { Catalogue } from '../grading/catalogue.ts';
import { gradeSettlement } from '../grading/grade.ts';
import { NO_ROWS } from '../write/batch-rows.ts';
import type { WindowReader } from './pipeline.ts';

export interface SolanaWindowsDeps {
  readonly config: Pick<ChainConfig, 'chain' | 'tokens'>;
  readonly source: SolanaReader;
  /** Where only transactions of named fee payers are read: those that are named from the start. Absent: whole blocks are read. */
  readonly feePayers?: readonly Address[];
}

/** Windows of Solana: transfers of the listed mints. */
export function createSolanaWindows({ config, source, feePayers }: SolanaWindowsDeps): WindowReader {
  const { chain } = config;
  const tokens = new Map<string, (typeof config.tokens)[number]>(
    config.tokens.map((token) => [token.address, token]),
  );
  const everything = { mints: new Set(tokens.keys()), isCandidate };
  /** Those that are named later (of a facilitator's `/supported`) are read from then on. */
  const filterOf = ({ relayers }: Pick<Catalogue, 'relayers'>): SolanaFilter => {
    if (feePayers === undefined) return everything;
    const named = relayers.filter((relayer) => relayer.chain === chain).map(({ address }) => address);
    return { ...everything, feePayers: new Set([...feePayers, ...named]) };
  };
  return {
    contracts: [...config.tokens.map(({ address }) => address), ...(feePayers ?? [])],
    isPartial: feePayers !== undefined,
    async read(from, to, readWith, options) {
      const batch = await source.read(from, to, filterOf(readWith), options);
      return {
        ...{ from, to, blocks: endsOf(batch), size: sizeOf(batch) },
        ...{ waitedMs: batch.waitedMs, readFrom: batch.readFrom },
        rowsBy(catalogue) {
          // All that was asked for is at hand: unlike on EVM chains nothing was left out for the catalogue of the reading.
          const isCataloguedPayee = (payee: Address): boolean => catalogue.isPayee(chain, payee);
          const { found, deadLetters } = decodeSlots(batch, { chain, tokens, isCataloguedPayee });
          const settlements = found.map((settlement) => gradeSettlement(settlement, catalogue));
          return { ...NO_ROWS, settlements, deadLetters };
        },
      };
    },
  };
}

/** Two blocks a second would fill the table of the reorg window, and final blocks are never undone: the ends are enough to link ranges. */
function endsOf({ blocks }: SolanaBatch): SolanaBatch['blocks'] {
  const [first, last] = [blocks[0], blocks.at(-1)];
  return first === undefined || last === undefined || first === last ? blocks : [first, last];
}

function sizeOf({ blocks }: SolanaBatch): number {
  let size = 0;
  for (const { transactions } of blocks) for (const { moves } of transactions) size += moves.length;
  return size;
}
