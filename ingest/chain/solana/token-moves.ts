import { base58 } from '@scure/base';
import type { TokenMove } from './block.ts';
import { TOKEN_2022_PROGRAM } from './programs.ts';

/**
 * Reads instructions of the token programs: those that change balances. Sources: SPL Token's `instruction.rs`, Token-2022's transfer fee
 * extension, and the batch of p-token (SIMD-0266).
 */

/** The first byte of an instruction. */
const CODE = {
  transfer: 3,
  mintTo: 7,
  burn: 8,
  transferChecked: 12,
  mintToChecked: 14,
  burnChecked: 15,
  /** Token-2022: the extension of transfer fees, with a second byte. */
  transferFee: 26,
  /** p-token: several instructions in one. */
  batch: 255,
} as const;

const TRANSFER_CHECKED_WITH_FEE = 1;
/** Token-2022: from here on extensions, of which some move balances (confidential transfers, withheld fees). */
const FIRST_EXTENSION = 24;

/** The longest that is read: base58 takes quadratic time, and the largest legitimate one is a batch of some dozen transfers. */
export const DATA_MAX_CHARS = 512;

/** An instruction of a token program, with the positions of its accounts. */
export interface TokenInstruction {
  readonly program: string;
  readonly accounts: readonly number[];
  /** Base58. */
  readonly data: string;
}

type Place = Pick<TokenMove, 'position' | 'top' | 'isInner'>;

/** What one instruction moved, and how many positions it takes: one, and one more for each part of a batch. */
export interface ReadInstruction {
  readonly moves: readonly TokenMove[];
  readonly positions: number;
}

const NOTHING: ReadInstruction = { moves: [], positions: 1 };

export function readTokenInstruction(instruction: TokenInstruction, place: Place): ReadInstruction {
  const { program, accounts, data } = instruction;
  if (data.length > DATA_MAX_CHARS)
    return { moves: [{ ...blank(program, place), kind: 'unreadable', touched: accounts }], positions: 1 };
  const bytes = base58.decode(data);
  if (bytes[0] === CODE.batch) return readBatch(program, accounts, bytes, place);
  const move = readOne(program, accounts, bytes, place);
  return move === null ? NOTHING : { moves: [move], positions: 1 };
}

/** Each part is the number of its accounts, the length of its data, and its data; its accounts follow those of the part before. */
function readBatch(
  program: string,
  accounts: readonly number[],
  bytes: Uint8Array,
  place: Place,
): ReadInstruction {
  const moves: TokenMove[] = [];
  let positions = 1;
  let nextAccount = 0;
  for (let at = 1; at + 1 < bytes.length; positions++) {
    const [accountCount = 0, length = 0] = bytes.subarray(at, at + 2);
    const own = accounts.slice(nextAccount, nextAccount + accountCount);
    const part = bytes.subarray(at + 2, at + 2 + length);
    const move = readOne(program, own, part, { ...place, position: place.position + positions });
    if (move !== null) moves.push(move);
    nextAccount += accountCount;
    at += 2 + length;
  }
  return { moves, positions };
}

/** Null for an instruction that changes no balance. One that is too short cannot have run: it is taken for an `other`. */
function readOne(
  program: string,
  accounts: readonly number[],
  bytes: Uint8Array,
  place: Place,
): TokenMove | null {
  const base = blank(program, place);
  const [first = null, second = null, third = null] = accounts;
  const unclear: TokenMove = { ...base, kind: 'other', touched: accounts };
  const amountAt = bytes[0] === CODE.transferFee ? 2 : 1;
  const amount = uint64(bytes, amountAt);
  switch (bytes[0]) {
    case CODE.transfer:
      return amount === null || second === null
        ? unclear
        : { ...base, kind: 'transfer', source: first, destination: second, amount };
    case CODE.transferChecked:
      return amount === null || third === null
        ? unclear
        : {
            ...base,
            kind: 'transfer',
            isChecked: true,
            source: first,
            mint: second,
            destination: third,
            amount,
          };
    case CODE.mintTo:
    case CODE.mintToChecked:
      return amount === null || second === null
        ? unclear
        : { ...base, kind: 'mint', mint: first, destination: second, amount };
    case CODE.burn:
    case CODE.burnChecked:
      return amount === null || second === null
        ? unclear
        : { ...base, kind: 'burn', source: first, mint: second, amount };
    default:
      break;
  }
  if (program !== TOKEN_2022_PROGRAM || (bytes[0] ?? 0) < FIRST_EXTENSION) return null;
  if (bytes[0] !== CODE.transferFee || bytes[1] !== TRANSFER_CHECKED_WITH_FEE) return unclear;
  const fee = uint64(bytes, FEE_AT);
  return amount === null || fee === null || third === null
    ? unclear
    : {
        ...base,
        kind: 'transfer',
        isChecked: true,
        source: first,
        mint: second,
        destination: third,
        amount,
        fee,
      };
}

/** Behind both codes, the amount and the decimals. */
const FEE_AT = 2 + 8 + 1;

function blank(program: string, { position, top, isInner }: Place): TokenMove {
  return {
    ...{ position, top, isInner, program },
    kind: 'other',
    isChecked: false,
    source: null,
    destination: null,
    mint: null,
    amount: 0n,
    fee: null,
    touched: [],
  };
}

function uint64(bytes: Uint8Array, at: number): bigint | null {
  if (bytes.length < at + 8) return null;
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigUint64(at, true);
}
