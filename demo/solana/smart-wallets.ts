import type { Address, Instruction, KeyPairSigner } from '@solana/kit';
import {
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  findAssociatedTokenPda,
  getRecoverNestedAssociatedTokenInstruction,
} from '@solana-program/token';
import type { SolanaLedger } from './ledger.ts';
import { fundTokens } from './mints.ts';
import { SMART_WALLET_PROGRAM, TOKEN_PROGRAM } from './programs.ts';

/**
 * Smart wallets of a local Solana: a program pays from a vault, an account without a key, where the wallet's owner signs. No package has the
 * program of one, so the associated token program runs at the address of one: its instruction that recovers nested tokens makes a checked
 * transfer from an account that only the program can sign for.
 */
export interface SmartWallet {
  readonly owner: KeyPairSigner;
  /** Owns the tokens that are paid. */
  readonly vault: Address;
  /** The token account from which the vault pays. */
  readonly source: Address;
  /** A token account of the payee. */
  readonly destination: Address;
  readonly mints: Mints;
}

interface Mints {
  readonly usdc: Address;
  /** Of which the vault is a token account. */
  readonly other: Address;
}

export function installSmartWalletProgram({ accounts }: SolanaLedger): void {
  const program = accounts.read(ASSOCIATED_TOKEN_PROGRAM_ADDRESS);
  if (program === undefined) throw new Error('the chain has no associated token program');
  accounts.write(SMART_WALLET_PROGRAM, program);
}

/** A wallet that pays one payee. */
export async function installSmartWallet(
  ledger: SolanaLedger,
  { owner, payee, mints }: { readonly owner: KeyPairSigner; readonly payee: Address; readonly mints: Mints },
): Promise<SmartWallet> {
  const vault = await accountOf(owner.address, mints.other);
  const destination = await accountOf(owner.address, mints.usdc);
  await fundTokens(ledger, { owner: owner.address, mint: mints.other, amount: 0n, at: vault });
  await fundTokens(ledger, { owner: payee, mint: mints.usdc, amount: 0n, at: destination });
  return { owner, vault, source: await accountOf(vault, mints.usdc), destination, mints };
}

/** Puts the amount into the vault and returns the instruction that pays it. */
export async function payFromVault(
  ledger: SolanaLedger,
  { owner, vault, source, destination, mints }: SmartWallet,
  amount: bigint,
): Promise<Instruction> {
  await fundTokens(ledger, { owner: vault, mint: mints.usdc, amount, at: source });
  return getRecoverNestedAssociatedTokenInstruction(
    {
      nestedAssociatedAccountAddress: source,
      nestedTokenMintAddress: mints.usdc,
      destinationAssociatedAccountAddress: destination,
      ownerAssociatedAccountAddress: vault,
      ownerTokenMintAddress: mints.other,
      walletAddress: owner,
    },
    { programAddress: SMART_WALLET_PROGRAM },
  );
}

async function accountOf(owner: Address, mint: Address): Promise<Address> {
  const at = { owner, mint, tokenProgram: TOKEN_PROGRAM };
  const [account] = await findAssociatedTokenPda(at, { programAddress: SMART_WALLET_PROGRAM });
  return account;
}
