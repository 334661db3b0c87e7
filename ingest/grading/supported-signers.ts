import type { Writer } from '../../clickhouse/engine/engine.ts';
import { RowBinary } from '../../clickhouse/engine/row-binary.ts';
import { sql } from '../../clickhouse/engine/sql.ts';
import { TABLES } from '../../clickhouse/tables/schema.ts';
import { address } from '../../core/domain/address.ts';
import { isChain } from '../../core/domain/chain.ts';
import type { SupportedSigner } from './catalogue.ts';

/** Table `supported_signers`: what facilitators said of themselves, with the first day of each. */

const MAX_SECONDS = 30;
const SIGNERS_MAX = 100_000;
const COLUMNS = ['facilitator', 'chain', 'address', 'first_seen'] as const;

export async function loadSigners(writer: Writer): Promise<SupportedSigner[]> {
  const { rows } = await writer.rows({
    name: 'load-supported-signers',
    sql: sql`SELECT facilitator, chain, concat('0x', lower(hex(address))), toString(min(first_seen))
      FROM supported_signers GROUP BY facilitator, chain, address ORDER BY facilitator, chain, address`,
    maxSeconds: MAX_SECONDS,
    maxRows: SIGNERS_MAX,
  });
  return rows.map((row) => {
    const [facilitator = '', chain = '', at = '', firstSeen = ''] = row.map(String);
    if (!isChain(chain)) throw new Error(`supported_signers names a chain that is none: ${chain}`);
    return { facilitator, chain, address: address(at), firstSeen };
  });
}

/** Repeating it changes nothing: the earliest day of a signer stays. */
export async function saveSigners(writer: Writer, signers: readonly SupportedSigner[]): Promise<void> {
  if (signers.length === 0) return;
  const out = new RowBinary();
  for (const signer of signers)
    out.string(signer.facilitator).string(signer.chain).hex20(signer.address).date(signer.firstSeen);
  await writer.insert('save-supported-signers', TABLES.supportedSigners, COLUMNS, [out.finish()]);
}
