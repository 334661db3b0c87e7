import { decodeEventLog, type Hex, parseAbiItem } from 'viem';
import type { AgentEvent, Attestation } from '../../../clickhouse/tables/registries.ts';
import { address, type Hash } from '../../../core/domain/account.ts';

import type { Chain } from '../../../core/domain/chains.ts';
import { REGISTRY_EVENTS } from '../registry-logs.ts';
import type { ReceiptLog } from './receipts.ts';

/** What the tables of the registries must hold, made of receipts by viem's generic decoder: another way than the index takes. */

export type Row = readonly unknown[];

/** Rows as the engine tells them, in the order of the chain. */
export interface RegistryRows {
  /** block_number, log_index, block_hash, tx_hash, block_time, kind, agent_id, account, text, data. */
  readonly events: readonly Row[];
  /** The first seven as above, author, client, feedback_index, value, value_decimals, tag1, tag2, endpoint, uri, file_hash, request_hash. */
  readonly attestations: readonly Row[];
}

export const NOBODY = `0x${'0'.repeat(40)}`;
const NO_HASH = `0x${'0'.repeat(64)}`;
const ABI = [
  ...REGISTRY_EVENTS,
  parseAbiItem('event ApprovalForAll(address indexed owner, address indexed operator, bool approved)'),
];

type Args = Readonly<Record<string, unknown>>;

/** `timeOf` gives the time of a block. */
export function rowsOfLogs(logs: readonly ReceiptLog[], timeOf: (block: number) => number): RegistryRows {
  const events: Row[] = [];
  const attestations: Row[] = [];
  for (const log of logs) {
    const [topics, data] = [log.topics as [Hex, ...Hex[]], log.data as Hex]; // hex of a node
    const { eventName, args } = decodeEventLog({ abi: ABI, topics, data });
    const block = Number(log.blockNumber);
    const place = [String(block), Number(log.logIndex), log.blockHash, log.transactionHash, timeOf(block)];
    const event = eventRow(eventName, args as Args);
    const attestation = attestationRow(eventName, args as Args);
    if (event !== null) events.push([...place, ...event]);
    if (attestation !== null) attestations.push([...place, ...attestation]);
  }
  return { events, attestations };
}

const lower = (value: unknown): string => String(value).toLowerCase();

function eventRow(name: string, args: Args): Row | null {
  const id = String(args['agentId']);
  switch (name) {
    case 'Registered':
      return ['registered', id, lower(args['owner']), args['agentURI'], '0x'];
    case 'URIUpdated':
      return ['uri_updated', id, lower(args['updatedBy']), args['newURI'], '0x'];
    case 'Transfer':
      return ['transferred', String(args['tokenId']), lower(args['to']), '', '0x'];
    case 'MetadataSet':
      return metadataRow(id, args['metadataKey'], args['metadataValue']);
    default:
      return null;
  }
}

function metadataRow(id: string, key: unknown, value: unknown): Row {
  if (key !== 'agentWallet') return ['metadata_set', id, NOBODY, key, value];
  return ['wallet_set', id, value === '0x' ? NOBODY : value, '', '0x'];
}

function attestationRow(name: string, args: Args): Row | null {
  const id = String(args['agentId']);
  const client = lower(args['clientAddress']);
  const about = [client, String(args['feedbackIndex'])];
  const validation = [id, lower(args['validatorAddress']), NOBODY, '0'];
  switch (name) {
    case 'NewFeedback': {
      const { value, valueDecimals, tag1, tag2, endpoint, feedbackURI, feedbackHash } = args;
      const given = [String(value), valueDecimals, tag1, tag2, endpoint, feedbackURI, feedbackHash];
      return ['feedback', id, client, ...about, ...given, NO_HASH];
    }
    case 'FeedbackRevoked':
      return ['revocation', id, client, ...about, '0', 0, '', '', '', '', NO_HASH, NO_HASH];
    case 'ResponseAppended': {
      const said = [args['responseURI'], args['responseHash']];
      return ['response', id, lower(args['responder']), ...about, '0', 0, '', '', '', ...said, NO_HASH];
    }
    case 'ValidationRequest': {
      const asked = [args['requestURI'], NO_HASH, args['requestHash']];
      return ['validation_request', ...validation, '0', 0, '', '', '', ...asked];
    }
    case 'ValidationResponse': {
      const { response, tag, responseURI, responseHash, requestHash } = args;
      const said = [String(response), 0, tag, '', '', responseURI, responseHash, requestHash];
      return ['validation_response', ...validation, ...said];
    }
    default:
      return null;
  }
}

/** The same rows as events and attestations, in the form that `agents.ts` folds. */
export function eventsOf({ events }: RegistryRows, chain: Chain): AgentEvent[] {
  return events.map((row) => {
    const [kind, agentId, account, text, data] = row.slice(PLACE_COLUMNS).map(String);
    return {
      ...placeOf(row, chain),
      kind: kind as AgentEvent['kind'], // one of the names above
      agentId: BigInt(agentId ?? ''),
      account: address(String(account)),
      text: String(text),
      data: data as Hex, // as above
    };
  });
}

export function attestationsOf({ attestations }: RegistryRows, chain: Chain): Attestation[] {
  return attestations.map((row) => {
    const [
      kind,
      agentId,
      author,
      client,
      index,
      value,
      decimals,
      tag1,
      tag2,
      endpoint,
      uri,
      fileHash,
      requestHash,
    ] = row.slice(PLACE_COLUMNS).map(String);
    return {
      ...placeOf(row, chain),
      kind: kind as Attestation['kind'], // one of the names above
      agentId: BigInt(agentId ?? ''),
      author: address(String(author)),
      client: address(String(client)),
      feedbackIndex: BigInt(index ?? ''),
      value: BigInt(value ?? ''),
      valueDecimals: Number(decimals),
      tag1: String(tag1),
      tag2: String(tag2),
      endpoint: String(endpoint),
      uri: String(uri),
      fileHash: fileHash as Hash, // hashes of the rows above
      requestHash: requestHash as Hash,
    };
  });
}

const PLACE_COLUMNS = 5;

function placeOf([block, index, blockHash, txHash, time]: Row, chain: Chain) {
  return {
    chain,
    blockNumber: Number(block),
    logIndex: Number(index),
    blockHash: blockHash as Hash, // of a row, which has five columns of its place
    txHash: txHash as Hash,
    blockTime: Number(time),
  };
}
