import { randomBytes } from 'node:crypto';
import type { Writer } from '../engine/engine.ts';
import { sql, uint64 } from '../engine/sql.ts';
import { STATE, type Table } from './table.ts';

/**
 * Ids of wallets for analysts who group and join by the million: 64 bits in place of 42 characters (docs/design/storage.md).
 *
 * An id is a keyed hash of the address as text. The key is made once for a deployment and kept in the index: it is the same in every
 * table and after a restored backup, and two addresses of one id cannot be searched for without it.
 */

/** The keys; the newest one counts. */
export const WALLET_ID_KEYS = {
  name: 'wallet_id_keys',
  columns: {},
  filled: {
    made: 'UInt64',
    low: 'UInt64',
    high: 'UInt64',
  },
  storage: { engine: 'ReplacingMergeTree', order: '(made, low, high)' },
  placement: STATE,
  backup: 'rows',
} as const satisfies Table;

export interface WalletIdKey {
  /** Its number, from 1. */
  readonly made: bigint;
  readonly halves: readonly [bigint, bigint];
}

const LOOK_MAX_SECONDS = 30;
const HALF_BYTES = 8;

/** The SQL expression of an id: `address` is one of an address as text, lower-case hex with 0x. */
export function walletIdText({ halves: [low, high] }: WalletIdKey, address: string): string {
  return `sipHash64Keyed((toUInt64(${low}), toUInt64(${high})), ${address})`;
}

/** Which key it is, as an expression that does not show it: the id of no address. */
export function walletIdMark(key: WalletIdKey): string {
  return walletIdText(key, "''");
}

/** The deployment's key; makes one where there is none. Processes that start at once agree on one, because they read it after writing. */
export async function ensureWalletIdKey(writer: Writer): Promise<WalletIdKey> {
  const known = await newestKey(writer);
  if (known !== null) return known;
  await addWalletIdKey(writer, 1n);
  const made = await newestKey(writer);
  if (made === null) throw new Error('the key of the wallet ids was written, and cannot be read');
  return made;
}

/** Writes a new key, which counts from the next start of each process on: until then they agree on the one before. */
export async function addWalletIdKey(writer: Writer, made: bigint): Promise<void> {
  const bytes = randomBytes(2 * HALF_BYTES);
  const [low, high] = [bytes.readBigUInt64LE(0), bytes.readBigUInt64LE(HALF_BYTES)];
  await writer.run({
    name: 'wallet-id-key',
    maxSeconds: LOOK_MAX_SECONDS,
    sql: sql`INSERT INTO wallet_id_keys (made, low, high) SELECT ${uint64(made)}, ${uint64(low)}, ${uint64(high)}`,
  });
}

async function newestKey(writer: Writer): Promise<WalletIdKey | null> {
  const { rows } = await writer.rows({
    name: 'wallet-id-keys',
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT made, low, high FROM wallet_id_keys ORDER BY made DESC, low DESC, high DESC LIMIT 1`,
  });
  const [row] = rows;
  if (row === undefined) return null;
  const [made, low, high] = row.map((field) => BigInt(String(field)));
  if (made === undefined || low === undefined || high === undefined)
    throw new TypeError('a key has three columns');
  return { made, halves: [low, high] };
}
