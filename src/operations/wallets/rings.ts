import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { sql, text, uint32 } from '../../../clickhouse/engine/sql.ts';
import type { Address } from '../../../core/domain/address.ts';
import { microsFromDecimal } from '../../../core/domain/amount.ts';
import { ask } from '../read/ask.ts';
import { integerField, textField } from '../read/decode.ts';

/** A cycle of payments that a wallet is part of: each member paid the next, the last paid the first. */
export interface WalletRing {
  /** Members, 2 to 4. */
  readonly length: number;
  /** From the smallest address on, in the direction of the payments. */
  readonly members: readonly Address[];
  /** The smallest sum that any member paid to the next in the window: what can have gone round. */
  readonly bottleneckUsdMicros: bigint;
  /** Unix seconds; the first that the window no longer covers. */
  readonly windowEnd: number;
  readonly methodVersion: string;
}

const RESOURCE = 'wallets';
const MAX_SECONDS = 5;
/** At least what a pass keeps for each wallet (ingest/rings/limits.ts). */
export const RINGS_PER_WALLET_MAX = 32;

/**
 * The rings of one wallet as of the newest finished pass, strongest first; none when no pass has finished yet.
 * Throws `upstream_unavailable` when the engine fails.
 */
export async function readRings(reader: Reader, wallet: Address): Promise<WalletRing[]> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'wallet-rings',
    maxSeconds: MAX_SECONDS,
    maxRows: RINGS_PER_WALLET_MAX,
    sql: sql`SELECT length, members, toString(bottleneck_usd), toUnixTimestamp(window_end), method_version
      FROM wallet_rings WHERE gen = (SELECT max(gen) FROM ring_passes) AND wallet = ${text(wallet)}
      ORDER BY bottleneck_usd DESC, length, members LIMIT ${uint32(RINGS_PER_WALLET_MAX)}`,
  });
  return rows.map(decodeRing);
}

function decodeRing(row: readonly unknown[]): WalletRing {
  const members = row[1];
  if (!Array.isArray(members)) throw new TypeError('wallet-rings: members are not a list');
  return {
    length: integerField(row[0]),
    members: members.map((member) => textField(member) as Address), // written by ingest from addresses only
    bottleneckUsdMicros: microsFromDecimal(textField(row[2])),
    windowEnd: integerField(row[3]),
    methodVersion: textField(row[4]),
  };
}
