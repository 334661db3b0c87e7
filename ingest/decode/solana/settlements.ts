import type { DeadLetter, DeadLetterReason } from '../../../clickhouse/tables/ingest-state.ts';
import { type Address, isAddress, readAddress } from '../../../core/domain/account.ts';
import { USD_MICROS_MAX, usdMicros } from '../../../core/domain/amount.ts';
import type { Chain, TokenFacts } from '../../../core/domain/chains.ts';
import { NO_CHANNEL, NO_CONTRACT } from '../../../core/domain/settlement.ts';
import { TOKEN_2022_PROGRAM } from '../../../core/domain/solana-programs.ts';
import type { SolanaBatch, SolanaBlock, SolanaTransaction, TokenMove } from '../../chain/solana/block.ts';
import { mintOf } from '../../chain/solana/check-balances.ts';
import type { Marker, UngradedSettlement } from '../../grading/grade.ts';
import { memoOf } from './memo.ts';
import { type Form, formOf, isOfWallet, isReadAt } from './shape.ts';

/** The facts about Solana that decoding needs. */
export interface SolanaContext {
  readonly chain: Chain;
  /** By mint. */
  readonly tokens: ReadonlyMap<string, TokenFacts>;
  /** Whether a transfer whose payer paid the fee is kept, to be shown as `not_x402`. */
  readonly isCataloguedPayee: (payee: Address) => boolean;
}

export interface DecodedSlots {
  readonly found: UngradedSettlement[];
  readonly deadLetters: DeadLetter[];
}

/**
 * Positions of instructions in one transaction, by which places in a block are counted: place = index of the transaction × this + position.
 * The runtime stops a transaction at 64 instructions, and a batch has some dozen parts. A place beyond these bounds is refused, never wrapped.
 */
export const POSITIONS_PER_TRANSACTION = 1_024;
const PLACE_MAX = 2 ** 32 - 1;

/**
 * Turns token transfers into settlements. A payment is a transfer of a listed token whose payer did not pay the fee: `TransferChecked` in the
 * message itself, or any transfer that a smart wallet's program makes (shape.ts). Those within other programs are legs of trades and loans.
 * Payer and payee are the owners of the token accounts, as the balances name them: the authority of a transfer may be a delegate or an
 * account of a program. Pure.
 */
export function decodeSlots({ blocks }: Pick<SolanaBatch, 'blocks'>, context: SolanaContext): DecodedSlots {
  const reading: Reading = { context, decoded: { found: [], deadLetters: [] } };
  for (const block of blocks)
    for (const transaction of block.transactions) decodeTransaction(transaction, block, reading);
  return reading.decoded;
}

interface Reading {
  readonly context: SolanaContext;
  readonly decoded: DecodedSlots;
}

/** A transfer of a listed token. */
interface ListedTransfer {
  readonly move: TokenMove;
  readonly token: TokenFacts;
}

function decodeTransaction(transaction: SolanaTransaction, block: SolanaBlock, reading: Reading): void {
  const { tokens } = reading.context;
  const { accounts, moves, balances, instructions } = transaction;
  const isWallet = isOfWallet(instructions);
  const listed = moves.flatMap((move): ListedTransfer[] => {
    const token = move.kind === 'transfer' ? tokens.get(mintOf(move, accounts, balances) ?? '') : undefined;
    return token === undefined ? [] : [{ move, token }];
  });
  const form = formOf(
    transaction,
    listed.map(({ move }) => move),
  );
  const where: Where = { transaction, block, form, memo: memoOf(instructions) };
  for (const transfer of listed)
    if (isReadAt(transfer.move, isWallet)) decodeTransfer(transfer, where, reading);
  const holdsToken = (account: number): boolean => tokens.has(balances.get(account)?.mint ?? '');
  for (const move of moves)
    if (move.kind === 'unreadable' && (!move.isInner || isWallet) && move.touched.some(holdsToken))
      refuse(reading, where, move, 'malformed_log');
}

interface Where {
  readonly transaction: SolanaTransaction;
  readonly block: SolanaBlock;
  readonly form: Form;
  readonly memo: string;
}

function decodeTransfer({ move, token }: ListedTransfer, where: Where, reading: Reading): void {
  const { transaction, block, form } = where;
  const { balances } = transaction;
  const [source, destination] = [balances.get(move.source ?? -1), balances.get(move.destination ?? -1)];
  // An account that this transaction opened has no owner before it, and one that it closed none after it.
  const payer = accountIn(source?.ownerBefore ?? source?.ownerAfter);
  const payee = accountIn(destination?.ownerAfter ?? destination?.ownerBefore);
  const relayer = accountIn(transaction.accounts[0]);
  const amount = creditedBy(move, transaction);
  const logIndex = placeOf(transaction, move);
  if (payer === null || payee === null || relayer === null || amount === null || logIndex === null) {
    refuse(reading, where, move, 'unclear_transfer');
    return;
  }
  const isSponsored = relayer !== payer;
  if (!isSponsored && !reading.context.isCataloguedPayee(payee)) return;
  const usd = usdMicros(amount, token);
  if (usd !== null && usd > USD_MICROS_MAX) {
    refuse(reading, where, move, 'amount_out_of_range');
    return;
  }
  reading.decoded.found.push({
    blockTime: block.time,
    chain: reading.context.chain,
    blockNumber: block.number,
    logIndex,
    txHash: transaction.signature,
    payer,
    payee,
    asset: token.address,
    assetSymbol: token.symbol,
    amount,
    amountUsdMicros: usd ?? 0n,
    usdKnown: usd !== null,
    relayer,
    builderFacilitator: '',
    builderApps: '',
    kind: 'payment',
    scheme: isSponsored && form !== 'other' ? 'exact' : 'unknown',
    channel: NO_CHANNEL,
    contract: NO_CONTRACT,
    feeAmount: 0n,
    memo: where.memo,
    marker: isSponsored ? SPONSORED[form] : 'none',
    relayedByPayer: !isSponsored,
    relayedByPayee: relayer === payee,
    selfPayment: payer === payee,
    directCall: !move.isInner,
    received: false,
    viaX402Contract: false,
  });
}

const SPONSORED: Readonly<Record<Form, Marker>> = {
  layout: 'sponsored_exact',
  wallet: 'sponsored_exact',
  other: 'sponsored',
};

/** Null for a text that is no account, and where none is known. */
function accountIn(text: string | null | undefined): Address | null {
  const account = readAddress(text, 'solana');
  return isAddress(account) ? account : null;
}

/**
 * What arrived. A mint of Token-2022 may withhold a part of each transfer, of which most instructions say nothing: then the balance of the
 * destination says it, where nothing else moved that account. Null where it cannot be told.
 */
function creditedBy(move: TokenMove, { moves, balances }: SolanaTransaction): bigint | null {
  const { amount, fee, source, destination } = move;
  if (move.program !== TOKEN_2022_PROGRAM) return amount;
  if (fee !== null) return fee <= amount ? amount - fee : null;
  const balance = balances.get(destination ?? -1);
  if (balance === undefined || balance.isReused) return null;
  const change = balance.after - balance.before;
  const others = moves.filter((other) => other !== move && touches(other, destination));
  if (others.length === 0) {
    const credited = source === destination ? amount + change : change;
    return credited >= 0n && credited <= amount ? credited : null;
  }
  // Nothing was withheld where the amounts alone explain the balance.
  const net = moves.reduce((sum, other) => sum + netOf(other, destination), 0n);
  return net === change && others.every(({ kind }) => kind !== 'other') ? amount : null;
}

function touches({ source, destination, touched }: TokenMove, account: number | null): boolean {
  return source === account || destination === account || touched.includes(account ?? -1);
}

function netOf({ source, destination, amount, fee }: TokenMove, account: number | null): bigint {
  return (destination === account ? amount - (fee ?? 0n) : 0n) - (source === account ? amount : 0n);
}

/** The order within the block; null for one that does not fit. */
function placeOf({ index }: SolanaTransaction, { position }: TokenMove): number | null {
  const place = index * POSITIONS_PER_TRANSACTION + position;
  return position < POSITIONS_PER_TRANSACTION && place <= PLACE_MAX ? place : null;
}

/** Kept with what a person needs to look at it. A place that does not fit is kept at the last one that does. */
function refuse(
  { context: { chain }, decoded }: Reading,
  { transaction, block }: Where,
  move: TokenMove,
  reason: DeadLetterReason,
): void {
  const { index, signature, accounts } = transaction;
  const named = (account: number | null): string | null =>
    account === null ? null : (accounts[account] ?? null);
  const { position, program, kind, isInner } = move;
  const rawLog = JSON.stringify({
    ...{ index, position, program, kind, isInner },
    source: named(move.source),
    destination: named(move.destination),
    mint: named(move.mint),
    amount: String(move.amount),
  });
  const logIndex = placeOf(transaction, move) ?? lastPlaceOf(index);
  decoded.deadLetters.push({
    ...{ chain, logIndex, reason, rawLog },
    blockNumber: block.number,
    blockHash: block.hash,
    txHash: signature,
  });
}

function lastPlaceOf(index: number): number {
  return Math.min(PLACE_MAX, (index + 1) * POSITIONS_PER_TRANSACTION - 1);
}
