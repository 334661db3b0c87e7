import { base58 } from '@scure/base';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  isAddition,
  isTokenProgram,
  SCHEME_INSTRUCTIONS,
  SMART_WALLET_PROGRAMS,
  UNIT_LIMIT,
  UNIT_PRICE,
} from '../../../core/domain/solana-programs.ts';
import type { Instruction, SolanaTransaction, TokenMove } from '../../chain/solana/block.ts';
import { mintOf } from '../../chain/solana/check-balances.ts';

/**
 * The form of a transaction by which x402 pays on Solana. Nothing on the chain says x402, so the form is all that it shows of itself; every
 * sponsored wallet may look alike. Source: scheme `exact` for Solana, and the facilitator of @x402/svm 2.27.0.
 */

/** `layout`: the instructions of path 1. `wallet`: a transfer that a smart wallet's program made, path 2. `other`: neither. */
export type Form = 'layout' | 'wallet' | 'other';

/** Older facilitators let the payer's client open the payee's token account first. */
const OPENED_ACCOUNTS_MAX = 1;
const BUDGET_MAX_CHARS = 16;

export function formOf(transaction: SolanaTransaction, listed: readonly TokenMove[]): Form {
  const { instructions } = transaction;
  // The scheme has exactly one transfer, and its fee payer gives nothing but the fee.
  if (listed.length !== 1 || listed[0] === undefined) return 'other';
  if (hasLayout(instructions, listed[0].top)) return 'layout';
  return isOfWallet(instructions) && !namesFeePayer(instructions) ? 'wallet' : 'other';
}

/** Whether the transfers that a smart wallet's program makes are read: all of the message is of such programs, or harmless. */
export function isOfWallet(instructions: readonly Instruction[]): boolean {
  return (
    instructions.some(({ program }) => SMART_WALLET_PROGRAMS.has(program)) &&
    instructions.every(({ program }) => SMART_WALLET_PROGRAMS.has(program) || isHarmless(program))
  );
}

/** Whether a transfer of a listed token is read where it stands: in the message only one that names its mint. */
export function isReadAt({ isInner, isChecked }: TokenMove, isWallet: boolean): boolean {
  return isInner ? isWallet : isChecked;
}

/** Whether a transaction can become a settlement. */
export function isCandidate(
  { instructions, moves, accounts, balances }: SolanaTransaction,
  mints: ReadonlySet<string>,
): boolean {
  const isWallet = isOfWallet(instructions);
  return moves.some((move) => {
    if (move.kind === 'unreadable') return !move.isInner || isWallet;
    if (move.kind !== 'transfer' || !isReadAt(move, isWallet)) return false;
    return mints.has(mintOf(move, accounts, balances) ?? '');
  });
}

function isHarmless(program: string): boolean {
  return program === COMPUTE_BUDGET_PROGRAM || isAddition(program);
}

function hasLayout(instructions: readonly Instruction[], transferAt: number): boolean {
  const opened = instructions.filter(({ program }) => program === ASSOCIATED_TOKEN_PROGRAM);
  const rest = instructions.filter(({ program }) => program !== ASSOCIATED_TOKEN_PROGRAM);
  const [limit, price, transfer, ...additions] = rest;
  return (
    opened.length <= OPENED_ACCOUNTS_MAX &&
    rest.length >= SCHEME_INSTRUCTIONS.min &&
    instructions.length <= SCHEME_INSTRUCTIONS.max &&
    isBudget(limit, UNIT_LIMIT) &&
    isBudget(price, UNIT_PRICE) &&
    transfer === instructions[transferAt] &&
    transfer !== undefined &&
    isTokenProgram(transfer.program) &&
    additions.every(({ program }) => isAddition(program)) &&
    // The fee payer may be named by the instruction that opens an account, because it pays for the account's rent.
    !namesFeePayer(rest)
  );
}

function isBudget(
  instruction: Instruction | undefined,
  { code, bytes }: typeof UNIT_LIMIT | typeof UNIT_PRICE,
): boolean {
  if (instruction?.program !== COMPUTE_BUDGET_PROGRAM || instruction.data.length > BUDGET_MAX_CHARS)
    return false;
  const data = base58.decode(instruction.data);
  return data.length === bytes && data[0] === code;
}

/** The fee payer is the first account of a transaction. */
function namesFeePayer(instructions: readonly Instruction[]): boolean {
  return instructions.some(({ accounts }) => accounts.includes(0));
}
