import { DEPLOYMENT_OWNER } from '../../../core/domain/dashboard.ts';
import type { SavedContent, SavedParameter, SavedQuery } from '../saved/definition.ts';

/**
 * The saved queries of the deployment itself: public, free to read, and run again while readers ask for them (standing.ts). The dashboards
 * that come with the service (shipped.ts) are made of these; docs/dashboards.md lists them.
 */

/** No organization has an id like this: ids have no tilde. */
export const DEPLOYMENT_ID = '~deployment';

const HOURS: SavedParameter = {
  name: 'hours',
  type: 'UInt32',
  description: 'Hours up to now: 24, 168 or 720.',
  standard: '168',
  example: null,
};
const CHAIN: SavedParameter = {
  name: 'chain',
  type: 'String',
  description: 'One chain by CAIP-2 name, or `all`.',
  standard: 'all',
  example: null,
};
const WALLET: SavedParameter = {
  name: 'wallet',
  type: 'String',
  description: 'Address of the seller: hex in lower case, or base58 of Solana.',
  standard: null,
  example: '0x0000000000000000000000000000000000000001',
};

const OF_CHAIN = `({chain:String} = 'all' OR chain = {chain:String})`;
/** Whole hours of a day, and whole days of a longer period, up to the hour or day that is not over. */
const SINCE =
  'if({hours:UInt32} <= 24, toStartOfHour(now()), toStartOfDay(now())) - INTERVAL {hours:UInt32} HOUR';
const BUCKET = 'if({hours:UInt32} <= 24, toStartOfHour(block_time), toStartOfDay(block_time))';
const IN_PERIOD = 'block_time > now() - INTERVAL {hours:UInt32} HOUR';
/** A payment in a token without a dollar value adds nothing: a period without any dollars is 0, not NULL. */
const USD = 'ifNull(amount_usd, 0)';
const IN_BOTH = 'block_time > now() - INTERVAL (2 * {hours:UInt32}) HOUR';
/** One name for each wallet: what the operator or the facilitators say before claims of agents and listings. */
const NAMES = `(SELECT address, argMin((name, name_source), indexOf(['operator_catalogue', 'facilitator', 'endpoint_catalogue', 'agent_card'], toString(name_source))) AS named
  FROM wallet_names GROUP BY address)`;

interface Shipped {
  readonly title: string;
  readonly description: string;
  readonly parameters: readonly SavedParameter[];
  readonly sql: string;
}

const QUERIES: Readonly<Record<string, Shipped>> = {
  'market-figures': {
    title: 'Volume, payments, sellers and payers',
    description:
      'Four figures of a period, each with the period of the same length before it. Payments of a wallet to itself are left out.',
    parameters: [HOURS, CHAIN],
    sql: `SELECT
  sumIf(usd, is_now) AS organic_volume_usd,
  sumIf(usd, NOT is_now) AS organic_volume_usd_before,
  countIf(is_now) AS payments,
  countIf(NOT is_now) AS payments_before,
  uniqIf(payee_id, is_now) AS active_sellers,
  uniqIf(payee_id, NOT is_now) AS active_sellers_before,
  uniqIf(payer_id, is_now) AS active_payers,
  uniqIf(payer_id, NOT is_now) AS active_payers_before
FROM (
  SELECT ${USD} AS usd, payee_id, payer_id, ${IN_PERIOD} AS is_now
  FROM settlements
  WHERE ${IN_BOTH} AND NOT is_self_payment
    AND ${OF_CHAIN}
)`,
  },
  'volume-by-facilitator': {
    title: 'Organic volume by facilitator',
    description:
      'Dollars by hour of a day, or by day of a longer period, and by the facilitator that relayed.',
    parameters: [HOURS, CHAIN],
    sql: `SELECT ${BUCKET} AS time,
  facilitator, sum(${USD}) AS volume_usd
FROM settlements
WHERE block_time >= ${SINCE}
  AND NOT is_self_payment AND ${OF_CHAIN}
GROUP BY time, facilitator
ORDER BY time, volume_usd DESC`,
  },
  'top-sellers': {
    title: 'Top sellers',
    description:
      'Who was paid the most, with the period before, the number of payers and the verdict on the figures. Payments of a wallet to itself are left out.',
    parameters: [HOURS, CHAIN],
    sql: `SELECT s.payee AS payee, n.named.1 AS payee_name, n.named.2 AS payee_name_source,
  s.volume_usd AS volume_usd, s.volume_usd_before AS volume_usd_before,
  s.payments AS payments, s.payers AS payers, v.verdict AS verdict
FROM (
  SELECT payee,
    sumIf(usd, is_now) AS volume_usd,
    sumIf(usd, NOT is_now) AS volume_usd_before,
    countIf(is_now) AS payments,
    uniqIf(payer_id, is_now) AS payers
  FROM (
    SELECT payee, payer_id, ${USD} AS usd, ${IN_PERIOD} AS is_now
    FROM settlements
    WHERE ${IN_BOTH} AND NOT is_self_payment
      AND ${OF_CHAIN}
  )
  GROUP BY payee
  HAVING payments > 0
  ORDER BY volume_usd DESC
  LIMIT 10
) AS s
LEFT JOIN ${NAMES} AS n ON n.address = s.payee
LEFT JOIN (SELECT wallet, verdict FROM wallet_verdicts WHERE role = 'payee') AS v ON v.wallet = s.payee
ORDER BY volume_usd DESC`,
  },
  'newest-payments': {
    title: 'Newest payments',
    description: 'The newest payments of the last day.',
    parameters: [CHAIN],
    sql: `SELECT block_time, payee, n.named.1 AS payee_name, n.named.2 AS payee_name_source, facilitator, amount_usd
FROM (
  SELECT block_time, payee, facilitator, amount_usd
  FROM settlements
  WHERE block_time > now() - INTERVAL 1 DAY AND ${OF_CHAIN}
  ORDER BY block_time DESC
  LIMIT 10
) AS s
LEFT JOIN ${NAMES} AS n ON n.address = s.payee
ORDER BY block_time DESC`,
  },
  'facilitator-figures': {
    title: 'Facilitators in figures',
    description:
      'Facilitators that relayed, the dollars and payments that they relayed, and the share of payments that a named one relayed.',
    parameters: [HOURS, CHAIN],
    sql: `SELECT
  uniqIf(facilitator, is_now AND is_named) AS active_facilitators,
  uniqIf(facilitator, NOT is_now AND is_named) AS active_facilitators_before,
  sumIf(usd, is_now AND is_named) AS relayed_volume_usd,
  sumIf(usd, NOT is_now AND is_named) AS relayed_volume_usd_before,
  countIf(is_now AND is_named) AS relayed_payments,
  countIf(NOT is_now AND is_named) AS relayed_payments_before,
  round(100 * countIf(is_now AND is_named) / greatest(1, countIf(is_now)), 1) AS named_share_percent,
  round(100 * countIf(NOT is_now AND is_named) / greatest(1, countIf(NOT is_now)), 1) AS named_share_percent_before
FROM (
  SELECT facilitator, ifNull(facilitator, '') != '' AS is_named, ${USD} AS usd, ${IN_PERIOD} AS is_now
  FROM settlements
  WHERE ${IN_BOTH} AND NOT is_self_payment
    AND ${OF_CHAIN}
)`,
  },
  'payments-by-facilitator': {
    title: 'Payments by facilitator',
    description:
      'Payments by hour of a day, or by day of a longer period, and by the facilitator that relayed.',
    parameters: [HOURS, CHAIN],
    sql: `SELECT ${BUCKET} AS time,
  facilitator, count() AS payments
FROM settlements
WHERE block_time >= ${SINCE}
  AND NOT is_self_payment AND ${OF_CHAIN}
GROUP BY time, facilitator
ORDER BY time, payments DESC`,
  },
  'facilitator-ranking': {
    title: 'Facilitators by volume',
    description: 'Every named facilitator of the period with its volume, payments, sellers and payers.',
    parameters: [HOURS, CHAIN],
    sql: `SELECT facilitator, any(facilitator_name) AS facilitator_name,
  sumIf(usd, is_now) AS volume_usd,
  sumIf(usd, NOT is_now) AS volume_usd_before,
  countIf(is_now) AS payments,
  uniqIf(payee_id, is_now) AS sellers,
  uniqIf(payer_id, is_now) AS payers
FROM (
  SELECT facilitator, facilitator_name, ${USD} AS usd, payee_id, payer_id, ${IN_PERIOD} AS is_now
  FROM settlements
  WHERE ${IN_BOTH} AND NOT is_self_payment
    AND facilitator != '' AND ${OF_CHAIN}
)
GROUP BY facilitator
HAVING payments > 0
ORDER BY volume_usd DESC
LIMIT 25`,
  },
  'payments-by-hour': {
    title: 'When payments are made',
    description: 'Payments by weekday and hour of the day, UTC.',
    parameters: [HOURS, CHAIN],
    sql: `SELECT formatDateTime(block_time, '%H:00') AS hour,
  arrayElement(['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'], toDayOfWeek(block_time)) AS weekday,
  count() AS payments
FROM settlements
WHERE ${IN_PERIOD} AND NOT is_self_payment AND ${OF_CHAIN}
GROUP BY hour, weekday
ORDER BY hour, weekday`,
  },
  'seller-figures': {
    title: 'A seller in figures',
    description: 'What one seller was paid in a period, by how many payers, with the period before.',
    parameters: [WALLET, HOURS, CHAIN],
    sql: `SELECT
  sumIf(usd, is_now) AS organic_volume_usd,
  sumIf(usd, NOT is_now) AS organic_volume_usd_before,
  countIf(is_now) AS payments,
  countIf(NOT is_now) AS payments_before,
  uniqIf(counterparty_id, is_now) AS payers,
  uniqIf(counterparty_id, NOT is_now) AS payers_before,
  if(payments = 0, 0, organic_volume_usd / payments) AS mean_payment_usd,
  if(payments_before = 0, 0, organic_volume_usd_before / payments_before) AS mean_payment_usd_before
FROM (
  SELECT ${USD} AS usd, counterparty_id, ${IN_PERIOD} AS is_now
  FROM wallet_settlements
  WHERE wallet = {wallet:String} AND role = 'payee' AND ${IN_BOTH}
    AND NOT is_self_payment AND ${OF_CHAIN}
)`,
  },
  'seller-volume': {
    title: 'Volume of a seller',
    description: 'What one seller was paid, by hour or day and by facilitator.',
    parameters: [WALLET, HOURS, CHAIN],
    sql: `SELECT ${BUCKET} AS time,
  facilitator, sum(${USD}) AS volume_usd
FROM wallet_settlements
WHERE wallet = {wallet:String} AND role = 'payee'
  AND block_time >= ${SINCE}
  AND NOT is_self_payment AND ${OF_CHAIN}
GROUP BY time, facilitator
ORDER BY time, volume_usd DESC`,
  },
  'seller-payers': {
    title: 'Who pays a seller',
    description: 'The payers of one seller, by what they paid.',
    parameters: [WALLET, HOURS, CHAIN],
    sql: `SELECT s.payer AS payer, n.named.1 AS payer_name, n.named.2 AS payer_name_source,
  volume_usd, payments, last_paid
FROM (
  SELECT counterparty AS payer, sum(${USD}) AS volume_usd, count() AS payments, max(block_time) AS last_paid
  FROM wallet_settlements
  WHERE wallet = {wallet:String} AND role = 'payee' AND ${IN_PERIOD}
    AND NOT is_self_payment AND ${OF_CHAIN}
  GROUP BY payer
  ORDER BY volume_usd DESC
  LIMIT 10
) AS s
LEFT JOIN ${NAMES} AS n ON n.address = s.payer
ORDER BY volume_usd DESC`,
  },
  'seller-prices': {
    title: 'Prices that a seller is paid',
    description: 'The amounts in dollars that one seller is paid most often.',
    parameters: [WALLET, HOURS, CHAIN],
    sql: `SELECT concat('$', toString(amount_usd)) AS price, count() AS payments
FROM wallet_settlements
WHERE wallet = {wallet:String} AND role = 'payee' AND ${IN_PERIOD}
  AND NOT is_self_payment AND amount_usd IS NOT NULL AND ${OF_CHAIN}
GROUP BY price
ORDER BY payments DESC
LIMIT 10`,
  },
  'agent-figures': {
    title: 'Agents in figures',
    description:
      'Registered agents, and what the wallets of agents were paid. Payments of a wallet to itself are left out.',
    parameters: [HOURS, CHAIN],
    sql: `SELECT
  (SELECT count() FROM agents WHERE ${OF_CHAIN}) AS registered_agents,
  (SELECT countIf(x402_support) FROM agents WHERE ${OF_CHAIN}) AS agents_with_x402,
  uniqIf(payee_id, is_now) AS agents_paid,
  uniqIf(payee_id, NOT is_now) AS agents_paid_before,
  sumIf(usd, is_now) AS paid_to_agents_usd,
  sumIf(usd, NOT is_now) AS paid_to_agents_usd_before
FROM (
  SELECT payee_id, ${USD} AS usd, ${IN_PERIOD} AS is_now
  FROM settlements
  WHERE ${IN_BOTH} AND NOT is_self_payment
    AND ${OF_CHAIN}
    AND payee IN (SELECT wallet FROM agents WHERE wallet IS NOT NULL)
)`,
  },
  'agent-registrations': {
    title: 'New agents',
    description: 'Registrations of agents, by hour or day and chain.',
    parameters: [HOURS, CHAIN],
    sql: `SELECT if({hours:UInt32} <= 24, toStartOfHour(registered_at), toStartOfDay(registered_at)) AS time,
  chain, count() AS agents
FROM agents
WHERE registered_at >= ${SINCE}
  AND ${OF_CHAIN}
GROUP BY time, chain
ORDER BY time`,
  },
  'agent-earners': {
    title: 'Agents by revenue',
    description: 'Agents whose wallets were paid the most, with their score.',
    parameters: [HOURS, CHAIN],
    sql: `SELECT s.payee AS payee, a.name AS payee_name, 'agent_card' AS payee_name_source,
  volume_usd, payments, payers, a.score AS score
FROM (
  SELECT payee, sum(${USD}) AS volume_usd, count() AS payments, uniq(payer_id) AS payers
  FROM settlements
  WHERE ${IN_PERIOD} AND NOT is_self_payment AND ${OF_CHAIN}
    AND payee IN (SELECT wallet FROM agents WHERE wallet IS NOT NULL)
  GROUP BY payee
  ORDER BY volume_usd DESC
  LIMIT 10
) AS s
INNER JOIN (
  SELECT wallet, any(name) AS name, round(max(score)) AS score FROM agents WHERE wallet IS NOT NULL GROUP BY wallet
) AS a ON a.wallet = s.payee
ORDER BY volume_usd DESC`,
  },
  'agent-capabilities': {
    title: 'What agents offer',
    description: 'Agents by the capabilities of their cards.',
    parameters: [CHAIN],
    sql: `SELECT arrayJoin(capabilities) AS capability, count() AS agents
FROM agents
WHERE ${OF_CHAIN}
GROUP BY capability
ORDER BY agents DESC
LIMIT 12`,
  },
};

/** Rows that one of them may have. */
const ROWS_MAX = 2_000;
const FRESHNESS_SECONDS = 60;

/** The saved queries of the deployment, by slug. */
export const DEPLOYMENT_QUERIES: ReadonlyMap<string, SavedQuery> = new Map(
  Object.entries(QUERIES).map(([slug, shipped]) => [slug, savedQuery(slug, shipped)]),
);

function savedQuery(slug: string, shipped: Shipped): SavedQuery {
  const content: SavedContent = {
    ...shipped,
    tier: 'standard',
    maxQu: 1,
    maxRows: ROWS_MAX,
    freshnessSeconds: FRESHNESS_SECONDS,
  };
  return {
    organizationId: DEPLOYMENT_ID,
    owner: DEPLOYMENT_OWNER,
    slug,
    version: 1,
    latestVersion: 1,
    content,
    settings: { visibility: 'public', hidesText: false, priceQu: 0, refreshSeconds: null },
    createdAtMs: 0,
    versionCreatedAtMs: 0,
    updatedAtMs: 0,
    nextRefreshAtMs: null,
  };
}
