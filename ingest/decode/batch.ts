import type { BlockBatch } from '../chain/block-source.ts';
import type { Catalogue } from '../grading/catalogue.ts';
import { gradeSettlement } from '../grading/grade.ts';
import { type BatchRows, NO_ROWS } from '../write/batch-rows.ts';
import type { DecodeContext } from './context.ts';
import { decodeRegistries } from './registries.ts';
import { decodeBatch } from './settlements.ts';

/** Everything a batch of blocks holds, decoded and graded, in the order of the logs. Pure; throws as `decodeBatch` does. */
export function rowsOfBatch(batch: BlockBatch, context: DecodeContext, catalogue: Catalogue): BatchRows {
  const { found, registryLogs, deadLetters } = decodeBatch(batch, context);
  const settlements = found.map((settlement) => gradeSettlement(settlement, catalogue));
  if (registryLogs.length === 0) return { ...NO_ROWS, settlements, deadLetters };
  const registries = decodeRegistries(registryLogs, batch.blocks, context);
  return { ...registries, settlements, deadLetters: [...deadLetters, ...registries.deadLetters] };
}
