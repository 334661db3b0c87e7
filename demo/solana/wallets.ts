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

/** The associated token account of an owner and a mint. */
export async function tokenAccountOf(
  owner: Address,
  mint: Address,
  tokenProgram: Address = TOKEN_PROGRAM,
): Promise<Address> {
  const [at] = await findAssociatedTokenPda({ owner, mint, tokenProgram });
  return at;
}
