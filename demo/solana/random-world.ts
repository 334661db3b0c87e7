import type { Address, KeyPairSigner } from '@solana/kit';
import { getMultisigEncoder } from '@solana-program/token';
import type { SolanaLedger } from './ledger.ts';
import { installLookupTable } from './lookup-tables.ts';
import { fundTokens, installMint } from './mints.ts';
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './programs.ts';
import { installSmartWallet, installSmartWalletProgram, type SmartWallet } from './smart-wallets.ts';
import { fundLamports, solanaWallet, tokenAccountOf } from './wallets.ts';

/** Who acts in random transactions of a local Solana, and with which tokens. Every key follows from the seed. */
export interface RandomWorld {
  /** They pay fees for others. */
  readonly feePayers: readonly KeyPairSigner[];
  /** They own tokens of each mint, and lamports. */
  readonly agents: readonly KeyPairSigner[];
  /** They have token accounts of each mint. */
  readonly sellers: readonly Address[];
  /** Moves tokens of others who approved it. */
  readonly delegate: KeyPairSigner;
  /** Owns tokens; two of three sign for it. */
  readonly multisig: { readonly address: Address; readonly signers: readonly KeyPairSigner[] };
  /** Two in a row pay the same seller. */
  readonly smartWallets: readonly SmartWallet[];
  readonly mints: RandomMints;
  readonly lookupTable: { readonly address: Address; readonly addresses: readonly Address[] };
}

export interface RandomMints {
  readonly usdc: Address;
  /** Of Token-2022; a part of each transfer is withheld. */
  readonly withFee: Address;
  /** A token that is no money. */
  readonly other: Address;
}

/** Of the mint whose transfers withhold a fee: 1 percent, at most 0.005 tokens. */
export const TRANSFER_FEE = { basisPoints: 100, max: 5_000n };

const AGENTS = 6;
const SELLERS = 5;
const FEE_PAYERS = 3;
const MULTISIG_SIGNERS = 3;
const MULTISIG_NEEDED = 2;
/** Of the layout of a multisig: places for signers. */
const MULTISIG_PLACES = 11;
const GRANT_LAMPORTS = 100_000_000_000n;
const GRANT_ATOMS = 1_000_000_000_000n;

/** The sellers of a seed, which are known before the chain runs. */
export async function sellersOfSeed(seed: number): Promise<Address[]> {
  const sellers = Array.from({ length: SELLERS }, (_, at) => solanaWallet(`${seed}/seller/${at}`));
  return (await Promise.all(sellers)).map(({ address }) => address);
}

export async function installRandomWorld(
  ledger: SolanaLedger,
  { usdc, seed }: { readonly usdc: Address; readonly seed: number },
): Promise<RandomWorld> {
  const wallet = (name: string) => solanaWallet(`${seed}/${name}`);
  const wallets = (count: number, name: string) =>
    Promise.all(Array.from({ length: count }, (_, at) => wallet(`${name}/${at}`)));
  const [feePayers, agents, sellers, signers] = await Promise.all([
    wallets(FEE_PAYERS, 'fee-payer'),
    wallets(AGENTS, 'agent'),
    sellersOfSeed(seed),
    wallets(MULTISIG_SIGNERS, 'multisig-signer'),
  ]);
  const [delegate, multisig, withFee, other, table] = await Promise.all([
    wallet('delegate'),
    wallet('multisig'),
    wallet('mint/with-fee'),
    wallet('mint/other'),
    wallet('lookup-table'),
  ]);
  const mints = { usdc, withFee: withFee.address, other: other.address };
  installMint(ledger, { mint: usdc });
  installMint(ledger, { mint: mints.withFee, transferFee: TRANSFER_FEE });
  installMint(ledger, { mint: mints.other });
  const rich = [...feePayers, ...agents].map(({ address }) => address);
  // A seller's own account must be rent-exempt before it can get less than that.
  for (const address of [...rich, ...sellers]) fundLamports(ledger, address, GRANT_LAMPORTS);
  installMultisig(ledger, multisig.address, signers);
  const owners = [...agents.map(({ address }) => address), multisig.address];
  for (const mint of Object.values(mints)) {
    for (const owner of owners) await fundTokens(ledger, { owner, mint, amount: GRANT_ATOMS });
    for (const owner of sellers) await fundTokens(ledger, { owner, mint, amount: 0n });
  }
  installSmartWalletProgram(ledger);
  const smartWallets = await Promise.all(
    agents.map((owner, at) => {
      const payee = sellers[Math.floor(at / 2)] ?? owner.address; // there are more sellers than pairs of agents
      return installSmartWallet(ledger, { owner, payee, mints });
    }),
  );
  const tabled = await Promise.all(sellers.map((owner) => tokenAccountOf(owner, usdc)));
  const addresses = [usdc, TOKEN_PROGRAM, TOKEN_2022_PROGRAM, SYSTEM_PROGRAM, ...tabled];
  installLookupTable(ledger, table.address, addresses);
  return {
    feePayers,
    agents,
    sellers,
    delegate,
    multisig: { address: multisig.address, signers: signers.slice(0, MULTISIG_NEEDED) },
    smartWallets,
    mints,
    lookupTable: { address: table.address, addresses },
  };
}

function installMultisig(ledger: SolanaLedger, at: Address, signers: readonly KeyPairSigner[]): void {
  const places = Array.from(
    { length: MULTISIG_PLACES },
    (_, place) => signers[place]?.address ?? SYSTEM_PROGRAM,
  );
  const facts = { m: MULTISIG_NEEDED, n: signers.length, isInitialized: true, signers: places };
  const data = Uint8Array.from(getMultisigEncoder().encode(facts));
  const lamports = ledger.accounts.rentExemption(data.length);
  ledger.accounts.write(at, { owner: TOKEN_PROGRAM, lamports, data, executable: false });
}
