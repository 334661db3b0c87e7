import type { Settlement } from '../../src/domain/settlement.ts';
import type { Catalogue } from '../catalogues/catalogue.ts';
import type { BlockBatch } from '../sources/block-source.ts';
import type { DeadLetter } from './dead-letter.ts';
import { decodeBatch } from './decode.ts';
import type { DecodeContext } from './decode-context.ts';
import { gradeSettlement } from './grade.ts';

/** Everything a batch of blocks holds, decoded and graded, in the order of the logs. Pure; throws as `decodeBatch` does. */
export function settlementsOf(
  batch: BlockBatch,
  context: DecodeContext,
  catalogue: Catalogue,
): { settlements: Settlement[]; deadLetters: DeadLetter[] } {
  const { found, deadLetters } = decodeBatch(batch, context);
  return { settlements: found.map((settlement) => gradeSettlement(settlement, catalogue)), deadLetters };
}
