import { decodeEventLog, type Hex, parseAbiItem } from 'viem';
import { type Address, address } from '../../core/domain/address.ts';
import type { AgentView, FeedbackView } from '../../demo/chain/registry-views.ts';
import type { ReceiptLog } from './receipts.ts';
import { REGISTRY_EVENTS } from './registry-logs.ts';

/**
 * What the tables must hold, made of receipts by viem's generic decoder, and what agents are by nothing but those rows: other
 * ways than the index takes.
 */

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

export interface FoldedAgent extends AgentView {
  readonly feedback: readonly FeedbackView[];
}

/**
 * Agents by id. A contract may pass its agent on within the mint, before `Registered` is logged: so the owner is always the
 * newest transfer's, and the wallet that is logged right after `Registered` says only what held at the mint.
 */
export function foldAgents({ events, attestations }: RegistryRows): FoldedAgent[] {
  const agents = new Map<string, { owner: Address; wallet: Address; uri: string; registeredAt: string }>();
  for (const [block, index, , , , kind, agentId, of, text] of events) {
    const id = String(agentId);
    const account = address(String(of));
    const agent = agents.get(id) ?? { owner: account, wallet: account, uri: '', registeredAt: '' };
    agents.set(id, agent);
    if (kind === 'transferred') agent.owner = account;
    if (kind === 'registered' || kind === 'uri_updated') agent.uri = String(text);
    if (kind === 'registered') agent.registeredAt = `${block} ${index}`;
    const isAtMint = agent.registeredAt === `${block} ${Number(index) - 1}`;
    if (kind === 'wallet_set' && !isAtMint) agent.wallet = account;
  }
  return [...agents]
    .map(([id, { owner, wallet, uri }]) => {
      const feedback = feedbackOf(id, attestations);
      return { agentId: BigInt(id), owner, wallet, uri, feedback };
    })
    .sort((one, other) => Number(one.agentId - other.agentId));
}

/** In any order. */
function feedbackOf(agentId: string, attestations: readonly Row[]): FeedbackView[] {
  const own = attestations.filter(([, , , , , , id]) => id === agentId);
  const keyOf = (row: Row): string => `${row[8]} ${row[9]}`;
  const revoked = new Set(own.filter(([, , , , , kind]) => kind === 'revocation').map(keyOf));
  return own
    .filter(([, , , , , kind]) => kind === 'feedback')
    .map((row) => ({
      client: address(String(row[8])),
      feedbackIndex: BigInt(String(row[9])),
      value: BigInt(String(row[10])),
      valueDecimals: Number(row[11]),
      tag1: String(row[12]),
      tag2: String(row[13]),
      revoked: revoked.has(keyOf(row)),
    }));
}
