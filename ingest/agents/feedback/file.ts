import { type Address, isAddress, readAddress } from '../../../core/domain/address.ts';
import type { FeedbackFile } from '../../../core/domain/agent.ts';
import { isChain } from '../../../core/domain/chains.ts';
import type { Hash } from '../../../core/domain/settlement.ts';
import { fieldOf, type JsonProblem, parseBounded, readAgentId, readRegistry } from '../values.ts';

/** Texts of a few lines; some hold a transcript. */
export const FEEDBACK_FILE_MAX_BYTES = 256 * 1_024;
const HASH = /^0x[0-9a-f]{64}$/;

/**
 * Reads a feedback file: who says to rate whom, and the payment that it names. A field that cannot be read is as if it were not
 * there; a proof of payment counts only whole. Source: ERC-8004.
 */
export function readFeedbackFile(bytes: Uint8Array): FeedbackFile | JsonProblem {
  const file = parseBounded(bytes);
  if (typeof file === 'string') return file;
  return {
    agentId: readAgentId(fieldOf(file, 'agentId')),
    agentRegistry: readRegistry(fieldOf(file, 'agentRegistry')) || null,
    client: readAccount(fieldOf(file, 'clientAddress')),
    proofOfPayment: readProof(fieldOf(file, 'proofOfPayment', 'proof_of_payment')),
  };
}

function readProof(value: unknown): FeedbackFile['proofOfPayment'] {
  const chain = readChain(fieldOf(value, 'chainId'));
  const txHash = readHash(fieldOf(value, 'txHash'));
  const from = readAccount(fieldOf(value, 'fromAddress'));
  const to = readAccount(fieldOf(value, 'toAddress'));
  return chain === null || txHash === null || from === null || to === null
    ? null
    : { chain, txHash, from, to };
}

/** `8453`, `"8453"`, `"0x2105"` or `"eip155:8453"`. */
function readChain(value: unknown): string | null {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value).trim() : '';
  const name = text.startsWith('eip155:') ? text : `eip155:${text}`;
  if (isChain(name)) return name;
  return /^0x[0-9a-f]{1,13}$/i.test(text) ? `eip155:${Number.parseInt(text, 16)}` : null;
}

/** An address, also at the end of a CAIP-10 account; its checksum is not checked: files get it wrong. */
function readAccount(value: unknown): Address | null {
  if (typeof value !== 'string') return null;
  const outcome = readAddress(
    value
      .trim()
      .replace(/^eip155:\d+:/, '')
      .toLowerCase(),
  );
  return isAddress(outcome) ? outcome : null;
}

function readHash(value: unknown): Hash | null {
  const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return isHash(text) ? text : null;
}

function isHash(text: string): text is Hash {
  return HASH.test(text);
}
