import type { AgentEvent, Attestation } from '../../core/domain/registry-event.ts';
import type { BlockRef, RawLog } from '../chain/block-source.ts';
import { MalformedData } from './abi-data.ts';
import type { DecodeContext } from './context.ts';
import { type DeadLetter, deadLetterOf } from './dead-letter.ts';
import { decodeAgentEvent } from './registry-agent-event.ts';
import { decodeReputation, decodeValidation } from './registry-attestation.ts';

export interface DecodedRegistries {
  readonly agentEvents: AgentEvent[];
  readonly attestations: Attestation[];
  readonly deadLetters: DeadLetter[];
}

/**
 * Turns the logs of the ERC-8004 registries into rows. `logs` are those of kind `registry`, ascending, and `blocks` theirs
 * among others, ascending. What is not as the event's types say is a dead letter; a block that is missing is a bug and throws.
 */
export function decodeRegistries(
  logs: readonly RawLog[],
  blocks: readonly BlockRef[],
  context: Pick<DecodeContext, 'chain' | 'registries'>,
): DecodedRegistries {
  const decoded: DecodedRegistries = { agentEvents: [], attestations: [], deadLetters: [] };
  let blockAt = 0;
  for (const log of logs) {
    while ((blocks[blockAt]?.number ?? Number.POSITIVE_INFINITY) < log.blockNumber) blockAt++;
    const block = blocks[blockAt];
    if (block?.number !== log.blockNumber)
      throw new Error(`the batch lacks block ${log.blockNumber}, to which a registry's log belongs`);
    try {
      decodeInto(decoded, log, block, context);
    } catch (error) {
      if (!(error instanceof MalformedData)) throw error;
      decoded.deadLetters.push(deadLetterOf(context.chain, log, 'malformed_log'));
    }
  }
  return decoded;
}

function decodeInto(
  { agentEvents, attestations }: DecodedRegistries,
  log: RawLog,
  block: BlockRef,
  { chain, registries }: Pick<DecodeContext, 'chain' | 'registries'>,
): void {
  const { blockNumber, logIndex, transactionHash: txHash } = log;
  const place = { blockTime: block.time, chain, blockNumber, logIndex, blockHash: block.hash, txHash };
  switch (registries.get(log.address)) {
    case 'identity':
      agentEvents.push({ ...place, ...decodeAgentEvent(log) });
      return;
    case 'reputation':
      attestations.push({ ...place, ...decodeReputation(log) });
      return;
    case 'validation':
      attestations.push({ ...place, ...decodeValidation(log) });
      return;
    default:
      throw new Error(`${log.address} is no registry of ${chain}`);
  }
}
