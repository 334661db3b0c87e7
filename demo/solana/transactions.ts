import {
  type Address,
  type AddressesByLookupTableAddress,
  appendTransactionMessageInstructions,
  type Blockhash,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  getTransactionEncoder,
  type Instruction,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
  type TransactionSigner,
} from '@solana/kit';
import {
  getSetComputeUnitLimitInstruction,
  getSetComputeUnitPriceInstruction,
} from '@solana-program/compute-budget';
import { getAddMemoInstruction } from '@solana-program/memo';
import { getTransferCheckedInstruction } from '@solana-program/token';
import type { SolanaLedger } from './ledger.ts';
import { TOKEN_PROGRAM } from './programs.ts';
import { tokenAccountOf } from './wallets.ts';

/** Transactions of the local chain, signed and in the wire format. */

export interface UnsignedTransaction {
  readonly feePayer: TransactionSigner;
  readonly instructions: readonly Instruction[];
  /** Addresses that the transaction names by their place in a lookup table. */
  readonly lookupTables?: AddressesByLookupTableAddress;
}

/** Signs with every signer that the instructions carry. */
export async function signTransaction(
  ledger: Pick<SolanaLedger, 'latestBlockhash'>,
  { feePayer, instructions, lookupTables }: UnsignedTransaction,
): Promise<Uint8Array> {
  const { blockhash, lastValidBlockHeight } = ledger.latestBlockhash();
  const lifetime = {
    blockhash: blockhash as Blockhash, // base58 of 32 bytes, made by the ledger
    lastValidBlockHeight: BigInt(lastValidBlockHeight),
  };
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayerSigner(feePayer, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
    (live) => appendTransactionMessageInstructions(instructions, live),
    (whole) =>
      lookupTables === undefined
        ? whole
        : compressTransactionMessageUsingAddressLookupTables(whole, lookupTables),
  );
  return Uint8Array.from(getTransactionEncoder().encode(await signTransactionMessageWithSigners(message)));
}

export interface SponsoredPayment {
  /** Pays the fee: a facilitator. */
  readonly feePayer: TransactionSigner;
  /** Owns the tokens and signs for them. */
  readonly payer: TransactionSigner;
  /** Must have an associated token account of the mint. */
  readonly payee: Address;
  readonly mint: Address;
  readonly amount: bigint;
  readonly decimals?: number;
  readonly memo?: string;
  readonly tokenProgram?: Address;
}

/** As @x402/svm 2.27.0 asks for. */
const UNIT_LIMIT = 20_000;
const MICRO_LAMPORTS_PER_UNIT = 1n;
const DEFAULT_DECIMALS = 6;

/** A payment in the shape that x402's scheme `exact` has on Solana: limit and price of units, TransferChecked, memo. */
export async function sponsoredPayment(payment: SponsoredPayment): Promise<UnsignedTransaction> {
  const { feePayer, payer, payee, mint, amount, memo, tokenProgram = TOKEN_PROGRAM } = payment;
  const transfer = getTransferCheckedInstruction(
    {
      source: await tokenAccountOf(payer.address, mint, tokenProgram),
      mint,
      destination: await tokenAccountOf(payee, mint, tokenProgram),
      authority: payer,
      amount,
      decimals: payment.decimals ?? DEFAULT_DECIMALS,
    },
    { programAddress: tokenProgram },
  );
  const instructions: Instruction[] = [
    getSetComputeUnitLimitInstruction({ units: UNIT_LIMIT }),
    getSetComputeUnitPriceInstruction({ microLamports: MICRO_LAMPORTS_PER_UNIT }),
    transfer,
  ];
  if (memo !== undefined) instructions.push(getAddMemoInstruction({ memo }));
  return { feePayer, instructions };
}
