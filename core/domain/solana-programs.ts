/** Programs of Solana that payments name, by their addresses, and what x402's scheme `exact` says of them. */

/** The two token programs. Source: @solana-program/token 0.9, @solana-program/token-2022 0.6. */
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';
export const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';

/** What wallets and clients add to a payment: a note, and the assertions with which Phantom and Solflare guard it. */
export const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
export const LIGHTHOUSE_PROGRAM = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95';

/** Programs of smart wallets, through which a facilitator of x402 lets a payment pass. Source: the default of @x402/svm 2.27.0. */
export const SMART_WALLET_PROGRAMS: ReadonlySet<string> = new Set([
  'SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf', // Squads Multisig v4
  'SMRTzfY6DfH5ik3TKiyLFfXexV8uSG3d2UksSCYdunG', // Squads Smart Account
  'SWiGmQedKzMz1tiTqoJCWeGDnGXfNBp2PkXLkpCAtQo', // Swig
  'swigypWHEksbC64pWKwah1WTeh9JXwx8H1rJHLdbQMB', // Swig v2
  'GovER5Lthms3bLBqWub97yVrMmEogzX7xNjdXpPPCVZw', // SPL Governance
  'CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d', // Metaplex Core
]);

/** By how a token is paid with. */
export const PROGRAM_OF = { 'spl-token': TOKEN_PROGRAM, 'token-2022': TOKEN_2022_PROGRAM } as const;

export function isTokenProgram(program: string): boolean {
  return program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM;
}

/** Whether the scheme lets an instruction of the program follow the transfer. */
export function isAddition(program: string): boolean {
  return program === MEMO_PROGRAM || program === LIGHTHOUSE_PROGRAM;
}

/** How many instructions a transaction of the scheme has: unit limit, unit price, the transfer, and at most four of guards and notes. */
export const SCHEME_INSTRUCTIONS = { min: 3, max: 7 } as const;

/** SetComputeUnitLimit and SetComputeUnitPrice: the first byte, and how many there are. */
export const UNIT_LIMIT = { code: 2, bytes: 5 } as const;
export const UNIT_PRICE = { code: 3, bytes: 9 } as const;

/** TransferChecked: the first byte, where its amount and its decimals stand, and how many bytes there are at least. */
export const TRANSFER_CHECKED = { code: 12, amountAt: 1, bytes: 10 } as const;
