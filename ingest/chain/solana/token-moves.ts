import { base58 } from '@scure/base';
import { TOKEN_2022_PROGRAM } from '../../../core/domain/solana-programs.ts';
import type { TokenMove } from './block.ts';

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

/** Where an instruction has its accounts, by their order in it. */
interface Layout {
  readonly kind: 'transfer' | 'mint' | 'burn';
  readonly isChecked?: boolean;
  readonly source?: number;
  readonly mint?: number;
  readonly destination?: number;
  readonly amountAt?: number;
  readonly feeAt?: number;
}

const CHECKED: Layout = { kind: 'transfer', isChecked: true, source: 0, mint: 1, destination: 2 };
const MINT: Layout = { kind: 'mint', mint: 0, destination: 1 };
const BURN: Layout = { kind: 'burn', source: 0, mint: 1 };
const LAYOUTS: ReadonlyMap<number | undefined, Layout> = new Map([
  [CODE.transfer, { kind: 'transfer', source: 0, destination: 1 }],
  [CODE.transferChecked, CHECKED],
  [CODE.mintTo, MINT],
  [CODE.mintToChecked, MINT],
  [CODE.burn, BURN],
  [CODE.burnChecked, BURN],
]);
/** Behind both codes: the amount, a byte of decimals, and the fee. */
const WITH_FEE: Layout = { ...CHECKED, amountAt: 2, feeAt: 2 + 8 + 1 };

/** Null for an instruction that changes no balance. One that is too short cannot have run: it is taken for an `other`. */
function readOne(
  program: string,
  accounts: readonly number[],
  bytes: Uint8Array,
  place: Place,
): TokenMove | null {
  const [code, second] = bytes;
  const isExtension = program === TOKEN_2022_PROGRAM && code !== undefined && code >= FIRST_EXTENSION;
  const isWithFee = isExtension && code === CODE.transferFee && second === TRANSFER_CHECKED_WITH_FEE;
  const layout = isWithFee ? WITH_FEE : LAYOUTS.get(code);
  const base = blank(program, place);
  const unclear: TokenMove = { ...base, kind: 'other', touched: accounts };
  if (layout === undefined) return isExtension ? unclear : null;
  const { kind, isChecked = false, amountAt = 1, feeAt } = layout;
  const amount = uint64(bytes, amountAt);
  const fee = feeAt === undefined ? null : uint64(bytes, feeAt);
  const [source, mint, destination] = [layout.source, layout.mint, layout.destination].map((at) =>
    at === undefined ? null : accounts[at],
  );
  const isCut = source === undefined || mint === undefined || destination === undefined;
  if (amount === null || isCut || (feeAt !== undefined && fee === null)) return unclear;
  return { ...base, kind, isChecked, source, mint, destination, amount, fee };
}

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
