import { DEFAULT_TIER, fragmentOf } from '../sql/share.ts';
import type { WalletRole } from './wallet-link.tsx';

const SQL = `SELECT counterparty, count() AS settlements, sum(amount_usd) AS usd, max(block_time) AS newest
FROM wallet_settlements
WHERE wallet = {wallet:String} AND role = {role:String}
GROUP BY counterparty
ORDER BY usd DESC
LIMIT 100`;

/** The SQL page with a question about a wallet written and its parameters filled in. */
export function walletSqlPath(wallet: string, party: WalletRole): string {
  return `/sql${fragmentOf({ sql: SQL, tier: DEFAULT_TIER, params: { wallet: wallet.toLowerCase(), role: party } })}`;
}
