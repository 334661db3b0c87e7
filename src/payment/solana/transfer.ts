import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';
import { isOffCurveAddress } from '@solana/addresses';
import {
  type CompiledTransactionMessage,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
} from '@solana/transaction-messages';
import { getTransactionDecoder } from '@solana/transactions';
import { type Address, isAddress, readAddress } from '../../../core/domain/account.ts';
import type { TokenFacts } from '../../../core/domain/chains.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  isAddition,
  isTokenProgram,
  PROGRAM_OF,
  SCHEME_INSTRUCTIONS,
  SMART_WALLET_PROGRAMS,
  TRANSFER_CHECKED,
  UNIT_LIMIT,
  UNIT_PRICE,
} from '../../../core/domain/solana-programs.ts';

/**
 * The signed transaction by which x402's scheme `exact` pays on Solana: unit limit, unit price, one TransferChecked, and notes or guards of
 * wallets. Any other instruction is refused, so that what the message says is what is paid. Source: the scheme `exact` for Solana, path 1.
 * Refused, though official facilitators can be set up to take them: smart wallets (path 2), whose transfer is in no instruction of the
 * message, so that only a simulation shows it and the execution may pay less; and lookup tables, behind which the token and the payee would
 * stand. Neither is made by the official client.
 */
export interface SponsoredTransfer {
  /**
   * SHA-256 of the message that is signed, `0x` and hex. A message is executed at most once, whatever signatures and encoding it is sent
   * with: it names a recent block hash, and the chain refuses a repetition while that counts.
   */
  readonly digest: `0x${string}`;
  /** Pays the fee, and signs last. */
  readonly feePayer: Address;
  /** The authority of the transfer, who has signed. */
  readonly payer: Address;
  readonly tokenProgram: string;
  readonly mint: string;
  /** The token account that is paid. */
  readonly destination: string;
  /** Atomic units. */
  readonly amount: bigint;
}

/** A message that is no payment of the scheme: a reason of @x402/svm, and what to do. */
interface MessageFault {
  readonly reason: string;
  readonly detail: string;
}

/** A packet of Solana. */
const WIRE_BYTES_MAX = 1_232;
const WIRE_CHARS_MAX = Math.ceil(WIRE_BYTES_MAX / 3) * 4;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Reads `payload.transaction`, base64 of the wire format. Never throws; `problem` where it is no transaction. */
export function readTransfer(
  transaction: string,
): SponsoredTransfer | MessageFault | { readonly problem: string } {
  if (transaction.length > WIRE_CHARS_MAX || !BASE64.test(transaction))
    return { problem: `\`payload.transaction\` is not base64 of at most ${WIRE_BYTES_MAX} bytes.` };
  const bytes = messageIn(transaction);
  const message = bytes && readMessage(bytes);
  if (!bytes || !message)
    return { problem: '`payload.transaction` is no transaction of Solana, version 0 or legacy.' };
  const transfer = transferIn(message);
  return 'reason' in transfer ? transfer : { ...transfer, digest: digestOf(bytes) };
}

export function digestOf(message: Uint8Array): `0x${string}` {
  return `0x${createHash('sha256').update(message).digest('hex')}`;
}

/** The message that a transaction signs; null for bytes that are no transaction. */
export function messageIn(base64: string): Uint8Array | null {
  try {
    return Uint8Array.from(getTransactionDecoder().decode(Buffer.from(base64, 'base64')).messageBytes);
  } catch {
    return null;
  }
}

/**
 * Null for one that is written otherwise than it has to be (longer lengths, bytes behind its end): a node that takes it would give one
 * message several digests, and one payment would count several times.
 */
function readMessage(bytes: Uint8Array): CompiledTransactionMessage | null {
  try {
    const message = getCompiledTransactionMessageDecoder().decode(bytes);
    const written = getCompiledTransactionMessageEncoder().encode(message);
    return Buffer.compare(Uint8Array.from(written), bytes) === 0 ? message : null;
  } catch {
    return null;
  }
}

interface Instruction {
  readonly program: string;
  readonly accounts: readonly string[];
  readonly data: Buffer;
}

const PREFIX = 'invalid_exact_svm_payload_';
const PLACES = ['fourth', 'fifth', 'sixth', 'seventh'] as const;
const ADVICE = 'Sign what a client of x402’s scheme `exact` for Solana makes.';

function fault(reason: string, detail: string): MessageFault {
  return { reason: `${PREFIX}${reason}`, detail: `${detail} ${ADVICE}` };
}

function transferIn(message: CompiledTransactionMessage): Omit<SponsoredTransfer, 'digest'> | MessageFault {
  if ('addressTableLookups' in message && (message.addressTableLookups?.length ?? 0) > 0)
    return fault(
      'transaction_could_not_be_decoded',
      'The transaction names accounts by lookup tables, so its message does not say what it pays. Name every account in the message itself.',
    );
  const instructions = instructionsOf(message);
  if (instructions.some(({ program }) => SMART_WALLET_PROGRAMS.has(program))) return OF_SMART_WALLET;
  const { min, max } = SCHEME_INSTRUCTIONS;
  if (instructions.length < min || instructions.length > max)
    return fault(
      'transaction_instructions_length',
      `The transaction has ${instructions.length} instructions, not ${min} to ${max}.`,
    );
  const [limit, price, transfer, ...rest] = instructions;
  if (!isBudget(limit, UNIT_LIMIT))
    return fault(
      'transaction_instructions_compute_limit_instruction',
      'The first instruction does not set the limit of compute units.',
    );
  if (!isBudget(price, UNIT_PRICE))
    return fault(
      'transaction_instructions_compute_price_instruction',
      'The second instruction does not set the price of compute units.',
    );
  const paid = readChecked(transfer);
  if (paid === null) return fault('no_transfer_instruction', 'The third instruction is no TransferChecked.');
  const unknown = rest.findIndex(({ program }) => !isAddition(program));
  if (unknown >= 0)
    return fault(
      `unknown_${PLACES[unknown]}_instruction`,
      `The ${PLACES[unknown]} instruction is neither a memo nor a guard of a wallet.`,
    );
  const [feePayer] = message.staticAccounts;
  if (feePayer === undefined || instructions.some(({ accounts }) => accounts.includes(feePayer)))
    return fault(
      'transaction_fee_payer_transferring_funds',
      'An instruction names the account that pays the fee, which may give nothing but the fee.',
    );
  return { ...paid, feePayer: feePayer as string as Address }; // base58 of 32 bytes, as the decoder writes it
}

const OF_SMART_WALLET: MessageFault = {
  reason: 'invalid_exact_svm_smart_wallet_program_not_allowed',
  detail: `The program of a smart wallet makes the transfer, so the message does not say what it pays, and this service takes no other proof. Pay from an account that signs for its own tokens. ${ADVICE}`,
};

function instructionsOf({ staticAccounts, instructions }: CompiledTransactionMessage): Instruction[] {
  const at = (index: number): string => staticAccounts[index] ?? '';
  return instructions.map(({ programAddressIndex, accountIndices = [], data }) => ({
    program: at(programAddressIndex),
    accounts: accountIndices.map(at),
    data: Buffer.from(data ?? []),
  }));
}

function isBudget(
  instruction: Instruction | undefined,
  { code, bytes }: { code: number; bytes: number },
): boolean {
  return (
    instruction?.program === COMPUTE_BUDGET_PROGRAM &&
    instruction.data.length === bytes &&
    instruction.data[0] === code
  );
}

function readChecked(
  instruction: Instruction | undefined,
): Omit<SponsoredTransfer, 'digest' | 'feePayer'> | null {
  if (instruction === undefined || !isTokenProgram(instruction.program)) return null;
  const { program: tokenProgram, accounts, data } = instruction;
  const { code, amountAt, bytes } = TRANSFER_CHECKED;
  const [, mint, destination, authority] = accounts;
  const payer = readAddress(authority, 'solana');
  if (data[0] !== code || data.length < bytes || !mint || !destination || !isAddress(payer)) return null;
  return { tokenProgram, mint, destination, payer, amount: data.readBigUInt64LE(amountAt) };
}

/** The program that a token of Solana belongs to; null for one of another chain. */
export function tokenProgramOf(paidBy: TokenFacts['paidBy']): string | null {
  return paidBy === 'spl-token' || paidBy === 'token-2022' ? PROGRAM_OF[paidBy] : null;
}

const BUMP_MAX = 255;

/** The associated token account of an owner and a mint. Source: Associated Token Account program; derived addresses of Solana. */
export function tokenAccountOf(owner: Address, mint: Address, tokenProgram: string): string {
  for (let bump = BUMP_MAX; bump >= 0; bump--) {
    const hash = createHash('sha256');
    for (const seed of [owner, tokenProgram, mint]) hash.update(base58.decode(seed));
    hash.update(Uint8Array.of(bump)).update(base58.decode(ASSOCIATED_TOKEN_PROGRAM));
    const derived = base58.encode(hash.update('ProgramDerivedAddress').digest());
    if (isOffCurveAddress(derived as Parameters<typeof isOffCurveAddress>[0])) return derived; // base58 of 32 bytes
  }
  throw new Error(`no account of ${owner} can be derived`);
}
