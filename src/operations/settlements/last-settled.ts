import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { sql, texts } from '../../../clickhouse/engine/sql.ts';
import type { Address } from '../../../core/domain/address.ts';
import { ask } from '../read/ask.ts';
import { integerField, textField } from '../read/decode.ts';

const MAX_SECONDS = 5;

/**
 * When each of the wallets was last in a settlement, as payer or payee on any indexed chain: Unix seconds; a wallet that never
 * was is missing. One that a reorg took back counts too. A wallet costs one granule of 256 rows in each part, however much it
 * settled.
 */
export async function readLastSettled(
  reader: Reader,
  wallets: readonly (Address | null)[],
): Promise<ReadonlyMap<Address, number>> {
  const asked = [...new Set(wallets)].filter((wallet) => wallet !== null);
  if (asked.length === 0) return new Map();
  const { rows } = await ask(reader, 'wallets', {
    name: 'last-settled',
    maxSeconds: MAX_SECONDS,
    maxRows: asked.length,
    sql: sql`SELECT lower(hex(wallet)), toUnixTimestamp(max(last_time)) FROM wallet_seen
      WHERE wallet IN (SELECT toFixedString(unhex(arrayJoin(${texts(asked.map((wallet) => wallet.slice(2)))})), 20))
      GROUP BY wallet`,
  });
  // Written by the engine from 20 bytes.
  return new Map(rows.map((row) => [`0x${textField(row[0])}` as Address, integerField(row[1])]));
}
