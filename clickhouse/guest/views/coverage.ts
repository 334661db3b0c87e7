import { coverageQuery, PLAIN_COVERAGE } from '../../tables/plain-settlements.ts';
import { type WalletIdKey, walletIdMark } from '../../tables/wallet-ids.ts';

/** View `plain_coverage` for a key of the ids of wallets. */
export function coverageStatement(database: string, idKey: WalletIdKey): string {
  return `CREATE OR REPLACE VIEW ${database}.${PLAIN_COVERAGE.name} AS
${coverageQuery(`${database}.`, `id_key = ${walletIdMark(idKey)}`)}`;
}
