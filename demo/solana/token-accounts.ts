import { base58 } from '@scure/base';
import type { StoredAccount } from './accounts.ts';
import { TOKEN_PROGRAMS } from './programs.ts';

/** A token account of Token or Token-2022. */
export interface TokenAccount {
  readonly mint: string;
  readonly owner: string;
  readonly amount: bigint;
}

/** An amount of a token as a node writes it. */
export interface UiTokenAmount {
  readonly amount: string;
  readonly decimals: number;
  /** Null for nothing: nodes store it as a floating-point number in which 0 stands for "none". */
  readonly uiAmount: number | null;
  readonly uiAmountString: string;
}

/** Layout of both programs: mint 32 bytes, owner 32, amount u64, …, state at 108; Token-2022 has the kind of account at 165. */
const OWNER_AT = 32;
const AMOUNT_AT = 64;
const STATE_AT = 108;
const KIND_AT = 165;
const IS_TOKEN_ACCOUNT = 2;
/** Layout of a mint: decimals at 44, isInitialized at 45. */
const MINT_BYTES = 82;
const DECIMALS_AT = 44;

/** The token account in these bytes; undefined for a mint, a multisig, an account of other programs, or one not yet initialised. */
export function readTokenAccount(account: StoredAccount | undefined): TokenAccount | undefined {
  if (account === undefined || !TOKEN_PROGRAMS.has(account.owner)) return undefined;
  const { data } = account;
  const isLongEnough = data.length === KIND_AT || data[KIND_AT] === IS_TOKEN_ACCOUNT;
  if (!isLongEnough || data[STATE_AT] === 0) return undefined;
  return {
    mint: base58.encode(data.subarray(0, OWNER_AT)),
    owner: base58.encode(data.subarray(OWNER_AT, AMOUNT_AT)),
    amount: new DataView(data.buffer, data.byteOffset).getBigUint64(AMOUNT_AT, true),
  };
}

/** The decimals of a mint; undefined where the account is none. */
export function readDecimals(account: StoredAccount | undefined): number | undefined {
  if (account === undefined || !TOKEN_PROGRAMS.has(account.owner)) return undefined;
  return account.data.length >= MINT_BYTES ? account.data[DECIMALS_AT] : undefined;
}

export function uiTokenAmount(amount: bigint, decimals: number): UiTokenAmount {
  const digits = String(amount).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const part = digits.slice(digits.length - decimals).replace(/0{1,64}$/, '');
  const uiAmountString = part === '' ? whole : `${whole}.${part}`;
  return {
    amount: String(amount),
    decimals,
    uiAmount: amount === 0n ? null : Number(uiAmountString),
    uiAmountString,
  };
}
