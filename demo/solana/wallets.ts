import { createHash } from 'node:crypto';
import { type Address, createKeyPairSignerFromPrivateKeyBytes, type KeyPairSigner } from '@solana/kit';
import { findAssociatedTokenPda } from '@solana-program/token';
import type { SolanaLedger } from './ledger.ts';
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from './programs.ts';

/** The private key behind a label. Worthless by construction: the same label always gives the same key. */
export function solanaSecret(label: string): Uint8Array {
  return createHash('sha256').update(`settlement-index local Solana: ${label}`).digest();
}

export async function solanaWallet(label: string): Promise<KeyPairSigner> {
  return createKeyPairSignerFromPrivateKeyBytes(solanaSecret(label));
}

/** Gives an account lamports, as a faucet would. */
export function fundLamports(ledger: SolanaLedger, account: Address, lamports: bigint): void {
  ledger.accounts.write(account, {
    owner: SYSTEM_PROGRAM,
    lamports,
    data: new Uint8Array(),
    executable: false,
  });
}

/** Deriving one takes several hashes, each of which waits for a thread: more than executing a payment takes. */
const derived = new Map<string, Promise<Address>>();
const DERIVED_MAX = 10_000;

/** The associated token account of an owner and a mint. */
export function tokenAccountOf(
  owner: Address,
  mint: Address,
  tokenProgram: Address = TOKEN_PROGRAM,
): Promise<Address> {
  const key = `${owner}/${mint}/${tokenProgram}`;
  const known = derived.get(key) ?? findAssociatedTokenPda({ owner, mint, tokenProgram }).then(([at]) => at);
  if (derived.size >= DERIVED_MAX) derived.clear();
  derived.set(key, known);
  return known;
}
