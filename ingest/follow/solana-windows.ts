import type { ChainConfig } from '../../core/config/chains.ts';
import type { Address } from '../../core/domain/account.ts';
import type { SolanaBatch } from '../chain/solana/block.ts';
import type { SolanaReader } from '../chain/solana/source.ts';
import { decodeSlots } from '../decode/solana/settlements.ts';
import { isCandidate } from '../decode/solana/shape.ts';
import { gradeSettlement } from '../grading/grade.ts';
import { NO_ROWS } from '../write/batch-rows.ts';
import type { WindowReader } from './pipeline.ts';

export interface SolanaWindowsDeps {
  readonly config: Pick<ChainConfig, 'chain' | 'tokens'>;
  readonly source: SolanaReader;
}

/** Windows of Solana: transfers of the listed mints. */
export function createSolanaWindows({ config, source }: SolanaWindowsDeps): WindowReader {
  const { chain } = config;
  const tokens = new Map<string, (typeof config.tokens)[number]>(
    config.tokens.map((token) => [token.address, token]),
  );
  const filter = { mints: new Set(tokens.keys()), isCandidate };
  return {
    contracts: config.tokens.map(({ address }) => address),
    async read(from, to, _readWith, options) {
      const batch = await source.read(from, to, filter, options);
      return {
        ...{ from, to, blocks: endsOf(batch), size: sizeOf(batch) },
        ...{ waitedMs: batch.waitedMs, readFrom: batch.readFrom },
        rowsBy(catalogue) {
          // Whole blocks are at hand: unlike on EVM chains nothing was left out for the catalogue of the reading.
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
