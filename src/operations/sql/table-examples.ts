import type { PublicTableName } from '../../../core/domain/public-tables.ts';

/** A query over each table that reads little and can be run as it stands. The tests run them. */
export const SQL_TABLE_EXAMPLES: Readonly<Record<PublicTableName, string>> = {
  settlements:
    "SELECT toDate(block_time) AS day, count() AS settlements, sum(amount_usd) AS usd FROM settlements WHERE block_time >= now() - INTERVAL 7 DAY AND evidence_tier IN ('proven', 'probable') GROUP BY day ORDER BY day",
  wallet_settlements:
    "SELECT counterparty, count() AS payments, sum(amount_usd) AS usd FROM wallet_settlements WHERE wallet = lower('0x4020615294c913f045dc10f0a5cdebd86c280001') AND role = 'payer' GROUP BY counterparty ORDER BY usd DESC LIMIT 20",
  agents:
    "SELECT agent_id, name, score, feedback_count FROM agents WHERE chain = 'eip155:8453' AND x402_support ORDER BY feedback_count DESC LIMIT 20",
  attestations:
    "SELECT agent_id, count() AS feedback, uniq(author) AS clients FROM attestations WHERE chain = 'eip155:8453' AND kind = 'feedback' AND NOT revoked GROUP BY agent_id ORDER BY clients DESC LIMIT 20",
  endpoints:
    "SELECT resource, method, min(price_usd) AS usd FROM endpoints WHERE chain = 'eip155:8453' AND price_usd <= 0.01 GROUP BY resource, method ORDER BY usd LIMIT 20",
  facilitators:
    'SELECT facilitator, count() AS addresses, min(first_seen) AS since FROM facilitators GROUP BY facilitator ORDER BY addresses DESC',
  merchant_days:
    'SELECT payee, sum(settled_usd) AS usd, sum(settlement_count) AS settlements FROM merchant_days WHERE day >= today() - 90 GROUP BY payee ORDER BY usd DESC LIMIT 20',
  payer_days:
    'SELECT payer, sum(settled_usd) AS usd, sum(settlement_count) AS settlements FROM payer_days WHERE day >= today() - 90 GROUP BY payer ORDER BY usd DESC LIMIT 20',
};
