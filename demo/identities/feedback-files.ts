import { keccak256, toHex } from 'viem';
import type { Address, Hash } from '../../core/domain/account.ts';
import { DEMO_CHAIN_ID } from '../chain/anvil.ts';
import { bytes, type CardHost } from './card-host.ts';
import { REGISTRY } from './cards.ts';

/** Feedback files (ERC-8004), true and false ones. */

/** A payment that a file may point to. */
export interface Payment {
  readonly txHash: Hash;
  readonly payer: string;
  readonly payee: string;
  /** Unix seconds. */
  readonly blockTime: number;
}

export interface FeedbackFacts {
  readonly agentId: bigint;
  readonly client: Address;
  readonly value: bigint;
  readonly valueDecimals: number;
  readonly tag1: string;
  readonly endpoint: string;
  /** Of the client to the agent's payee. */
  readonly payment: Payment | null;
}

/** The fault of a file; most have none. */
export const FILE_KINDS = [
  'true',
  'no_proof',
  'unknown_transaction',
  'other_payer',
  'other_agent',
  'other_client',
  'wrong_hash',
  'broken',
  'missing',
] as const;

export type FileKind = (typeof FILE_KINDS)[number];

const STRANGER = `0x${'5a'.repeat(20)}`;
const NOBODYS_TRANSACTION = `0x${'de'.repeat(32)}`;
const MISSING_HASH = keccak256('0x00');

/** Publishes the file of one feedback; what the log shall say of it. */
export function publishFeedbackFile(
  host: CardHost,
  facts: FeedbackFacts,
  kind: FileKind,
): { readonly uri: string; readonly hash: Hash } {
  const name = `/feedback/${facts.agentId}-${facts.client}-${facts.payment?.txHash ?? kind}.json`;
  if (kind === 'missing') return { uri: `${host.origin}${name}`, hash: MISSING_HASH };
  const file = kind === 'broken' ? '{"agentId":' : JSON.stringify(fileOf(facts, kind));
  const uri = host.publish(name, bytes(file));
  return { uri, hash: kind === 'wrong_hash' ? MISSING_HASH : keccak256(toHex(file)) };
}

function fileOf(facts: FeedbackFacts, kind: FileKind): object {
  const { agentId, client, value, valueDecimals, tag1, endpoint, payment } = facts;
  return {
    agentRegistry: REGISTRY,
    agentId: Number(kind === 'other_agent' ? agentId + 1n : agentId),
    clientAddress: `eip155:${DEMO_CHAIN_ID}:${kind === 'other_client' ? STRANGER : client}`,
    createdAt: new Date((payment?.blockTime ?? 0) * 1_000).toISOString(),
    value: Number(value),
    valueDecimals,
    tag1,
    endpoint,
    ...(payment === null || kind === 'no_proof' ? {} : { proofOfPayment: proofOf(payment, kind) }),
  };
}

function proofOf({ payer, payee, txHash }: Payment, kind: FileKind): object {
  return {
    fromAddress: kind === 'other_payer' ? STRANGER : payer,
    toAddress: payee,
    chainId: String(DEMO_CHAIN_ID),
    txHash: kind === 'unknown_transaction' ? NOBODYS_TRANSACTION : txHash,
  };
}
