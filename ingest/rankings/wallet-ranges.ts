import { lowestAccount } from '../../clickhouse/engine/account.ts';
import { type Sql, sql } from '../../clickhouse/engine/sql.ts';

/** Wallets by the first two bytes of their address, which are spread evenly: from `first` on, below `end`. */
export interface WalletRange {
  readonly first: number;
  readonly end: number;
}

const PREFIXES = 65_536;
const EVERY_WALLET: WalletRange = { first: 0, end: PREFIXES };
/** Each range reads the pairs once more. */
const RANGES_MAX = 256;

/**
 * Ranges that together have every wallet once, so many that each has about `perRange` of the pairs: what a statement remembers grows with
 * the wallets that it is about, and the memory that it may take does not.
 */
export function walletRanges(pairs: number, perRange: number): readonly WalletRange[] {
  const count = Math.min(RANGES_MAX, Math.ceil(pairs / perRange));
  if (count <= 1) return [EVERY_WALLET];
  const start = (index: number): number => Math.round((index * PREFIXES) / count);
  return Array.from({ length: count }, (_, index) => ({ first: start(index), end: start(index + 1) }));
}

/** Condition that a wallet, as bytes, is in the range. */
export function within(wallet: Sql, { first, end }: WalletRange): Sql {
  const from = first === 0 ? sql`true` : sql`${wallet} >= ${prefix(first)}`;
  return end === PREFIXES ? from : sql`(${from} AND ${wallet} < ${prefix(end)})`;
}

/** The lowest account with these first bytes. */
function prefix(bytes: number): Sql {
  return lowestAccount(bytes.toString(16).padStart(4, '0'));
}
