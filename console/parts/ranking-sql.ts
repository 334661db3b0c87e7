import type { Window } from '../../core/domain/window.ts';

/**
 * The questions of the rankings as SQL, for the editor. They count whole UTC days, or the last 24 hours to the second, and leave out
 * payments to oneself; the rankings of the API also leave out rings and wallets that paid each other (docs/methodology.md, "Rankings"). Pure.
 */

interface Question {
  readonly sql: string;
  /** Values of the placeholders. */
  readonly params: Readonly<Record<string, string>>;
}

interface RankedQuestion {
  readonly window: Window;
  /** Null for every chain. */
  readonly chain: string | null;
}

type Party = 'payee' | 'payer';

const TABLES: Readonly<Record<Party, string>> = { payee: 'merchant_days', payer: 'payer_days' };
const PARTIES: Readonly<Record<Party, string>> = { payee: 'Merchants', payer: 'Payers' };
const ROWS = 50;
/** The day tables begin with the first indexed day. */
const DAYS: Readonly<Record<Window, number | null>> = {
  '24h': 1,
  '7d': 7,
  '30d': 30,
  '90d': 90,
  all: null,
};

/** Wallets by the dollars that they were paid, or that they paid. */
export function walletsSql(party: Party, { window, chain }: RankedQuestion): Question {
  const head = `-- ${PARTIES[party]} by dollars, without payments to themselves, ${spanText(window)}.`;
  if (window === '24h')
    return question(
      `${head}
SELECT ${party}, sum(amount_usd) AS usd, count() AS settlements
FROM settlements
WHERE block_time > now() - INTERVAL 1 DAY AND NOT is_self_payment${chainCondition(chain)}
GROUP BY ${party}
ORDER BY usd DESC
LIMIT ${ROWS}`,
      chain,
    );
  return question(
    `${head}
SELECT ${party},
  sum(settled_usd - self_payment_usd) AS usd,
  sum(settlement_count - self_payment_count) AS settlements,
  max(last_settled_at) AS last_settled
FROM ${TABLES[party]}
WHERE ${sinceCondition(window)}${chainCondition(chain)}
GROUP BY ${party}
ORDER BY usd DESC
LIMIT ${ROWS}`,
    chain,
  );
}

/** Wallets by what they gained over the window before, which all of time does not have. */
export function growthSql(party: Party, { window, chain }: RankedQuestion): Question {
  const days = DAYS[window] ?? DAYS['30d'];
  return question(
    `-- ${PARTIES[party]} that gained most over the ${days === 1 ? 'day' : `${days} days`} before, without payments to themselves, by whole UTC days.
SELECT ${party},
  sumIf(settled_usd - self_payment_usd, day > today() - ${days}) AS usd,
  sumIf(settled_usd - self_payment_usd, day <= today() - ${days}) AS usd_before,
  usd - usd_before AS gain
FROM ${TABLES[party]}
WHERE day > today() - 2 * ${days}${chainCondition(chain)}
GROUP BY ${party}
HAVING gain > 0
ORDER BY gain DESC
LIMIT ${ROWS}`,
    chain,
  );
}

export function facilitatorsSql({ window, chain }: RankedQuestion): Question {
  return question(
    `-- Named facilitators by settlements, without payments of wallets to themselves, ${window === '24h' ? 'today (UTC)' : spanText(window)}.
SELECT facilitator,
  any(facilitator_name) AS name,
  sum(settlement_count - self_payment_count) AS settlements,
  sum(settled_usd - self_payment_usd) AS usd,
  sum(proven_usd) AS proven_usd
FROM facilitator_days
WHERE facilitator != '' AND ${window === '24h' ? 'day = today()' : sinceCondition(window)}${chainCondition(chain)}
GROUP BY facilitator
ORDER BY settlements DESC
LIMIT ${ROWS}`,
    chain,
  );
}

/** Not of a ranking: what was seen of each chain on each day, and what is missing. */
export function coverageSql({
  days,
  chain,
}: {
  readonly days: number;
  readonly chain: string | null;
}): Question {
  return question(
    `-- What was seen of each chain on each day, and what is missing, the last ${days} days.
SELECT day, chain, indexed_blocks, missing_blocks, payment_count, named_count, unknown_count, deposit_count,
  authorization_count, unpaired_authorization_count
FROM coverage_days
WHERE day > today() - ${days}${chainCondition(chain)}
ORDER BY day DESC, chain`,
    chain,
  );
}

export function endpointsSql(): Question {
  return question(
    `-- Listed resources by the payments of the last 30 days that fit their own offers.
SELECT resource, any(service_name) AS service, pay_to,
  max(settlement_count_30d) AS settlements,
  max(unique_payers_30d) AS payers,
  max(settled_usd_30d) AS usd
FROM endpoints
WHERE settlement_count_30d > 0
GROUP BY resource, pay_to
ORDER BY settlements DESC
LIMIT ${ROWS}`,
    null,
  );
}

/** What one facilitator relayed, day by day. */
export function facilitatorDaysSql(facilitator: string): Question {
  return {
    sql: `-- What a facilitator relayed on each UTC day of the last 90.
SELECT day, sum(settlement_count) AS settlements, sum(settled_usd) AS usd, sum(proven_usd) AS proven_usd
FROM facilitator_days
WHERE facilitator = {facilitator:String} AND day > today() - 90
GROUP BY day
ORDER BY day`,
    params: { facilitator },
  };
}

/** The merchants whose payments one facilitator relayed. */
export function facilitatorMerchantsSql(facilitator: string): Question {
  return {
    sql: `-- Merchants that were paid through a facilitator in the last 30 days.
SELECT payee, count() AS settlements, sum(amount_usd) AS usd, uniqExact(payer) AS payers, max(block_time) AS last_paid
FROM settlements
WHERE facilitator = {facilitator:String} AND block_time > now() - INTERVAL 30 DAY
GROUP BY payee
ORDER BY usd DESC
LIMIT ${ROWS}`,
    params: { facilitator },
  };
}

function question(sql: string, chain: string | null): Question {
  return { sql, params: chain === null ? {} : { chain } };
}

function chainCondition(chain: string | null): string {
  return chain === null ? '' : ' AND chain = {chain:String}';
}

function sinceCondition(window: Window): string {
  const days = DAYS[window];
  return days === null ? 'day > toDate(0)' : `day > today() - ${days}`;
}

function spanText(window: Window): string {
  if (window === '24h') return 'the last 24 hours';
  const days = DAYS[window];
  return days === null ? 'all days' : `the last ${days} UTC days`;
}
