import type { Address } from '@solana/kit';
import { AccountState, getMintEncoder, getTokenEncoder, type Token } from '@solana-program/token';
import {
  getTokenEncoder as getToken2022Encoder,
  getMintEncoder as getToken2022MintEncoder,
} from '@solana-program/token-2022';
import type { SolanaLedger } from './ledger.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './programs.ts';
import { tokenAccountOf } from './wallets.ts';

/** Mints and token accounts, written into the chain without a transaction: on a real one they have been there for long. */

export interface MintOptions {
  readonly mint: Address;
  readonly decimals?: number;
  /** Token-2022 with the transfer-fee extension: so many hundredths of a percent of each transfer are withheld, at most `max`. */
  readonly transferFee?: { readonly basisPoints: number; readonly max: bigint };
  readonly program?: typeof TOKEN_PROGRAM | typeof TOKEN_2022_PROGRAM;
}

/** Of every mint made here: no test mints so much. */
const SUPPLY = 10n ** 18n;
const DEFAULT_DECIMALS = 6;

export function installMint(ledger: SolanaLedger, options: MintOptions): void {
  const { mint, decimals = DEFAULT_DECIMALS, transferFee } = options;
  const program = transferFee === undefined ? (options.program ?? TOKEN_PROGRAM) : TOKEN_2022_PROGRAM;
  const facts = { mintAuthority: null, supply: SUPPLY, decimals, isInitialized: true, freezeAuthority: null };
  const data =
    transferFee === undefined
      ? getMintEncoder().encode(facts)
      : getToken2022MintEncoder().encode({ ...facts, extensions: [transferFeeConfig(transferFee)] });
  writeOwned(ledger, mint, program, data);
}

function transferFeeConfig({ basisPoints, max }: NonNullable<MintOptions['transferFee']>) {
  const fee = { epoch: 0n, maximumFee: max, transferFeeBasisPoints: basisPoints };
  return {
    __kind: 'TransferFeeConfig' as const,
    transferFeeConfigAuthority: NO_ADDRESS,
    withdrawWithheldAuthority: NO_ADDRESS,
    withheldAmount: 0n,
    olderTransferFee: fee,
    newerTransferFee: fee,
  };
}

/** How Token-2022 writes that an extension has no authority. */
const NO_ADDRESS = '11111111111111111111111111111111' as Address; // 32 zero bytes

/** Gives an owner a token account that holds `amount`, and returns its address. `at`: another one than the associated. */
export async function fundTokens(
  ledger: SolanaLedger,
  { owner, mint, amount, ...given }: Pick<Token, 'mint' | 'owner' | 'amount'> & { readonly at?: Address },
): Promise<Address> {
  const program = ledger.accounts.read(mint)?.owner;
  if (program !== TOKEN_PROGRAM && program !== TOKEN_2022_PROGRAM) throw new Error(`no mint: ${mint}`);
  const at = given.at ?? (await tokenAccountOf(owner, mint, program));
  const facts = {
    mint,
    owner,
    amount,
    delegate: null,
    state: AccountState.Initialized,
    isNative: null,
    delegatedAmount: 0n,
    closeAuthority: null,
  };
  const hasFees = program === TOKEN_2022_PROGRAM && hasExtensions(ledger, mint);
  const extensions = hasFees ? [{ __kind: 'TransferFeeAmount' as const, withheldAmount: 0n }] : null;
  const data =
    program === TOKEN_PROGRAM
      ? getTokenEncoder().encode(facts)
      : getToken2022Encoder().encode({ ...facts, extensions });
  writeOwned(ledger, at, program, data);
  return at;
}

/** A mint without extensions has 82 bytes. */
const MINT_BYTES = 82;

function hasExtensions(ledger: SolanaLedger, mint: Address): boolean {
  return (ledger.accounts.read(mint)?.data.length ?? 0) > MINT_BYTES;
}

function writeOwned(
  ledger: SolanaLedger,
  at: Address,
  owner: string,
  bytes: { readonly length: number; [Symbol.iterator](): Iterator<number> },
): void {
  const data = Uint8Array.from(bytes);
  ledger.accounts.write(at, {
    owner,
    lamports: ledger.accounts.rentExemption(data.length),
    data,
    executable: false,
  });
}
