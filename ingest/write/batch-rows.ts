import type { AgentEvent, Attestation } from '../../core/domain/registry-event.ts';
import type { Settlement } from '../../core/domain/settlement.ts';
import type { BlockBatch } from '../chain/block-source.ts';
import type { DecodeContext } from '../decode/context.ts';
import type { DeadLetter } from '../decode/dead-letter.ts';
import { decodeBatch } from '../decode/decode.ts';
import { decodeRegistries } from '../decode/registry-decode.ts';
import type { Catalogue } from '../grading/catalogue.ts';
import { gradeSettlement } from '../grading/grade.ts';

/** What a batch of blocks becomes in the tables. */
export interface BatchRows {
  readonly settlements: readonly Settlement[];
  readonly agentEvents: readonly AgentEvent[];
  readonly attestations: readonly Attestation[];
  readonly deadLetters: readonly DeadLetter[];
}

export const NO_ROWS: BatchRows = { settlements: [], agentEvents: [], attestations: [], deadLetters: [] };

/** Rows of all tables together. */
export function countRows({ settlements, agentEvents, attestations, deadLetters }: BatchRows): number {
  return settlements.length + agentEvents.length + attestations.length + deadLetters.length;
}

/** Everything a batch of blocks holds, decoded and graded, in the order of the logs. Pure; throws as `decodeBatch` does. */
export function rowsOfBatch(batch: BlockBatch, context: DecodeContext, catalogue: Catalogue): BatchRows {
  const { found, registryLogs, deadLetters } = decodeBatch(batch, context);
  const settlements = found.map((settlement) => gradeSettlement(settlement, catalogue));
  if (registryLogs.length === 0) return { ...NO_ROWS, settlements, deadLetters };
  const registries = decodeRegistries(registryLogs, batch.blocks, context);
  return { ...registries, settlements, deadLetters: [...deadLetters, ...registries.deadLetters] };
}
