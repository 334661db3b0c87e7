import { at, listed } from '../lab/questions.ts';
import { LIMIT, type MarketQuestion, WALLETS_PATH } from './market-question.ts';
import type { PostgresQuestion } from './postgres.ts';

/** Everything that is asked. PostgreSQL's statements return as many columns as an API would need. */

const NEWEST_FIRST = 'block_time DESC, chain DESC, block_number DESC, log_index DESC';
const PAGE = `ORDER BY ${NEWEST_FIRST} LIMIT ${LIMIT + 1}`;
const ROW = 'block_time, chain, block_number, relayer, asset, amount, micros, facilitator, method, seen';
const WARM = ['hot', 'mid'] as const;
const EVERY = ['hot', 'mid', 'cold'] as const;
const PROFILE_GOALS = { hot: [10, 10], mid: [12, 12] } as const;

const FLOWS: readonly MarketQuestion[] = [
  // Our answer comes from the memory of the API process, PostgreSQL's from the end of an index.
  {
    ...{ name: 'newest-flows', kind: 'newest', bounded: true, kept: true },
    ...{ goalMs: { all: [1, 1] }, judgedInApi: true },
    path: `/v0/flows?limit=${LIMIT}`,
    ours: ['flows', 'tx_hash', 'log_index'],
    sql: [`SELECT tx_hash, log_index, payer, payee, ${ROW} FROM settlements ${PAGE}`],
    theirs: [0, 1],
  },
  // PostgreSQL takes the page from each of two indexes and merges them.
  {
    ...{ name: 'settlements-of-{kind}-wallet', kind: 'point', bounded: true },
    ...{ of: 'payers and merchants', kinds: EVERY, goalMs: { mid: [8, 10] } },
    path: `/v0/entities/{1}/settlements?limit=${LIMIT}`,
    ours: ['settlements', 'tx_hash', 'log_index'],
    sql: [
      `SELECT tx_hash, log_index, payer, payee, ${ROW} FROM ((SELECT * FROM settlements WHERE payee = $1 ${PAGE})
        UNION ALL (SELECT * FROM settlements WHERE payer = $1 AND payee <> $1 ${PAGE})) AS parties ${PAGE}`,
    ],
    theirs: [0, 1],
  },
];

const SIDES = ['inbound_count', 'usd:inbound_usd', 'outbound_count', 'usd:outbound_usd'] as const;

/** Of all, by chain, by day. A group of PostgreSQL: inbound, chain, day, count, micros, of these to itself, of these proven. */
const profileLines: PostgresQuestion['lines'] = ([groups = []]) => {
  const sum = (some: typeof groups, column: number): bigint =>
    some.reduce((total, group) => total + BigInt(group[column] ?? 0), 0n);
  const sides = (some: typeof groups): string =>
    ['t', 'f']
      .map((side) => some.filter((group) => group[0] === side))
      .map((side) => `${sum(side, 3)} ${sum(side, 4)}`)
      .join(' ');
  const by = (column: 1 | 2, prefix: (key: string) => string): string[] =>
    [...new Set(groups.map((group) => group[column] ?? ''))]
      .filter((key) => key !== '')
      .sort()
      .map((key) => prefix(key) + sides(groups.filter((group) => group[column] === key)));
  const inbound = groups.filter(([side]) => side === 't');
  return [
    `${sides(groups)} ${sum(inbound, 5)} ${sum(inbound, 6)}`,
    ...by(1, () => ''),
    ...by(2, (day) => `${day.slice(0, 10)} `),
  ];
};

const WALLETS: readonly MarketQuestion[] = [
  // Whether to pay an address. PostgreSQL is asked for the sums alone, a part of our answer.
  {
    ...{ name: 'summary-{kind}', kind: 'point', bounded: 'but hot' },
    ...{ of: 'merchants', kinds: WARM, goalMs: PROFILE_GOALS },
    path: '/v0/entities/{1}/summary?chain=all',
    ours: ['received', 'settlement_count', 'usd:usd', 'usd:proven_usd'],
    sql: [
      'SELECT sum(n), sum(total), sum(self_total), sum(proven_total), min(first_time), max(last_time) FROM payee_day WHERE payee = $1',
    ],
    theirs: [0, 1, 3],
  },
  // The income of a merchant. PostgreSQL adds up the wallet's days and counts the distinct counterparties of its pairs; it need not
  // compute shares, reciprocity and rings, which our answer also holds.
  {
    ...{ name: 'merchant-{kind}', kind: 'point', bounded: 'but hot' },
    ...{ of: 'merchants', kinds: EVERY, goalMs: PROFILE_GOALS },
    path: '/v0/merchants/{1}?chain=all',
    ours: (body) => [
      ...listed('aggregates', ...SIDES, 'usd:self_payment_usd', 'usd:proven_usd')(body),
      ...listed('aggregates.chain_split', ...SIDES)(body),
      ...listed('aggregates.daily', 'date', ...SIDES)(body).toSorted(),
    ],
    oursAbout: (body) => [Number(at(body, 'aggregates.distinct_counterparties'))],
    theirs: profileLines,
    theirsAbout: ([, counted = []]) => [Number(counted[0]?.[0])],
    sql: [
      `SELECT true, chain, CASE WHEN day >= {today-29} THEN day END, sum(n), sum(total), sum(self_total), sum(proven_total),
          min(first_time), max(last_time) FROM payee_day WHERE payee = $1 GROUP BY 1, 2, 3
        UNION ALL SELECT false, chain, CASE WHEN day >= {today-29} THEN day END, sum(n), sum(total), 0::numeric, 0::numeric,
          min(first_time), max(last_time) FROM payer_day WHERE payer = $1 GROUP BY 1, 2, 3`,
      `SELECT count(*) FROM (SELECT payer FROM pair_day WHERE payee = $1 AND payer <> $1
        UNION SELECT payee FROM pair_day WHERE payer = $1 AND payee <> $1) AS others`,
    ],
  },
  // Counterparties over all of time, most dollars first. PostgreSQL adds up the pairs by day.
  {
    ...{ name: 'counterparties-{kind}', kind: 'point', bounded: 'but hot' },
    ...{ of: 'merchants', kinds: WARM, goalMs: { mid: [12, 12] } },
    path: `/v0/entities/{1}/counterparties?window=all&chain=all&limit=${LIMIT}`,
    ours: [
      ...(['counterparties', 'wallet', 'usd:inbound_usd', 'inbound_count'] as const),
      ...['usd:outbound_usd', 'outbound_count', 'days_active'],
    ],
    sql: [
      `SELECT other, sum(total) FILTER (WHERE inbound), sum(n) FILTER (WHERE inbound), sum(total) FILTER (WHERE NOT inbound),
          sum(n) FILTER (WHERE NOT inbound), count(DISTINCT day), min(first_time), max(last_time)
        FROM (SELECT payer AS other, true AS inbound, day, n, total, first_time, last_time FROM pair_day WHERE payee = $1 AND payer <> $1
          UNION ALL SELECT payee, false, day, n, total, first_time, last_time FROM pair_day WHERE payer = $1 AND payee <> $1) AS pairs
        GROUP BY other ORDER BY sum(total) DESC, other DESC LIMIT ${LIMIT + 1}`,
    ],
    theirs: [0, 1, 2, 3, 4, 5],
  },
];

const PAIR_DAYS =
  'SELECT day, sum(n), sum(total), sum(proven_total), min(first_time), max(last_time) FROM pair_day';

const PAIRS: readonly MarketQuestion[] = [
  // What one wallet paid another, and what came back.
  {
    ...{ name: 'pair', kind: 'point', bounded: true, of: 'pairs', goalMs: { all: [8, 8] } },
    path: '/v0/pairs/{1}/{2}?window=all&chain=all',
    ours: ['paid', 'settlement_count', 'usd:settled_usd', 'days_active'],
    sql: [
      `${PAIR_DAYS} WHERE payer = $1 AND payee = $2 GROUP BY day ORDER BY day`,
      `${PAIR_DAYS} WHERE payer = $2 AND payee = $1 AND payer <> payee GROUP BY day ORDER BY day`,
    ],
    theirs: ([rows = []]) => {
      const sum = (column: number) => rows.reduce((total, row) => total + BigInt(row[column] ?? 0), 0n);
      return [`${sum(1)} ${sum(2)} ${rows.length}`];
    },
  },
  {
    ...{ name: 'transaction', kind: 'point', bounded: true, of: 'transactions', goalMs: { all: [6, 6] } },
    path: '/v0/transactions/{1}',
    ours: ['settlements', 'payer', 'payee', 'log_index'],
    sql: [
      `SELECT payer, payee, log_index, ${ROW} FROM settlements WHERE tx_hash = $1
        ORDER BY block_time, chain, block_number, log_index`,
    ],
    theirs: [0, 1, 2],
  },
];

/**
 * Merchants by organic dollars of 30 days. PostgreSQL leaves out payments of a wallet to itself, and need not find rings and
 * reciprocal payments, so its answer is not compared.
 */
const RANKING: MarketQuestion = {
  ...{ name: 'ranking-first', kind: 'days', goalMs: { all: [150, 400] } },
  path: `/v0/leaderboard?of=merchants&by=organic_usd&window=30d&chain=all&limit=${LIMIT}`,
  reworded: (path, round) => `${path}&min_counterparties=${round + 2}`,
  ours: () => [],
  sql: [
    `SELECT payee, sum(total - self_total) AS organic FROM payee_day WHERE day >= {today-30}
      GROUP BY payee ORDER BY organic DESC, payee LIMIT ${LIMIT}`,
  ],
  theirs: () => [],
};

/**
 * The busiest relayers. PostgreSQL adds up their days and counts distinct parties for the page alone, along the index of relayers and
 * by hash: three times as fast as count(DISTINCT) for all of them.
 */
const FACILITATORS: MarketQuestion = {
  ...{ name: 'facilitators-page', kind: 'scan' },
  path: `/v0/facilitators?chain=all&limit=${LIMIT}`,
  ours: [
    ...(['facilitators', 'address', 'settlement_count', 'usd:settled_usd'] as const),
    ...['time:first_seen', 'time:last_seen'],
  ],
  oursAbout: (body) => {
    const counts = listed('facilitators', 'distinct_payers', 'distinct_payees')(body);
    return counts.flatMap((line) => line.split(' ').map(Number));
  },
  sql: [
    `SELECT relayer, n, total, extract(epoch FROM first_time)::bigint, extract(epoch FROM last_time)::bigint,
        (SELECT count(*) FROM (SELECT payer FROM settlements AS s WHERE s.chain = busiest.chain AND s.relayer = busiest.relayer GROUP BY payer) AS payers),
        (SELECT count(*) FROM (SELECT payee FROM settlements AS s WHERE s.chain = busiest.chain AND s.relayer = busiest.relayer GROUP BY payee) AS payees)
      FROM (SELECT chain, relayer, sum(n) AS n, sum(total) AS total, min(first_time) AS first_time, max(last_time) AS last_time
        FROM relayer_day GROUP BY chain, relayer ORDER BY n DESC, chain, relayer LIMIT ${LIMIT}) AS busiest
      ORDER BY n DESC, chain, relayer`,
  ],
  theirs: [0, 1, 2, 3, 4],
  theirsAbout: ([rows = []]) => rows.flatMap((row) => [Number(row[5]), Number(row[6])]),
};

/** The highest distinct addresses of one side below $1 by skipping through its index: one descent for each. */
function skipThrough(party: 'payer' | 'payee'): string {
  const next = (bound: string): string =>
    `SELECT ${party} FROM settlements WHERE ${party} < ${bound} ORDER BY ${party} DESC LIMIT 1`;
  return `WITH RECURSIVE walk(wallet) AS ((${next('$1::bytea')}) UNION ALL
    SELECT (${next('walk.wallet')}) FROM walk WHERE walk.wallet IS NOT NULL)
    SELECT wallet FROM walk WHERE wallet IS NOT NULL LIMIT ${LIMIT + 1}`;
}

const isOne = (role: string) => (row: unknown) =>
  (at(row, 'roles') as readonly string[]).includes(role) ? 't' : 'f'; // our own API

const LISTS: readonly MarketQuestion[] = [
  RANKING,
  { ...RANKING, name: 'ranking-kept', kept: true, goalMs: { all: [3, 3] } },
  {
    ...{ name: 'wallets-page', kind: 'point', bounded: true, of: 'pages of wallets' },
    path: `${WALLETS_PATH}{1}`,
    ours: [
      ...(['wallets', 'wallet', isOne('payer'), isOne('payee')] as const),
      ...['settlement_count', 'time:first_seen', 'time:last_seen'],
    ],
    sql: [
      `SELECT wallet, paid.n > 0, received.n > 0, paid.n + received.others,
          extract(epoch FROM least(paid.first_time, received.first_time))::bigint,
          extract(epoch FROM greatest(paid.last_time, received.last_time))::bigint
        FROM (SELECT wallet FROM ((${skipThrough('payer')}) UNION (${skipThrough('payee')})) AS both_sides
          ORDER BY wallet DESC LIMIT ${LIMIT + 1}) AS page,
        LATERAL (SELECT count(*) AS n, min(block_time) AS first_time, max(block_time) AS last_time
          FROM settlements WHERE payer = page.wallet) AS paid,
        LATERAL (SELECT count(*) AS n, count(*) FILTER (WHERE payer <> payee) AS others, min(block_time) AS first_time,
          max(block_time) AS last_time FROM settlements WHERE payee = page.wallet) AS received
        ORDER BY wallet DESC`,
    ],
    theirs: [0, 1, 2, 3, 4, 5],
  },
  FACILITATORS,
  { ...FACILITATORS, name: 'facilitators-kept', kind: 'days', kept: true },
];

const EDGES = 1_000;
const WINDOW = 50_000;
const PAIR_DAY = 'SELECT payer, payee, n, total, first_time, last_time FROM pair_day WHERE day < {today}';

/** PostgreSQL adds up by pair in one pass, payments to oneself in one group, as our statement does. */
function graph(
  question: Pick<MarketQuestion, 'name' | 'kind' | 'path'>,
  settlements: string,
): MarketQuestion {
  return {
    ...question,
    path: `${question.path}&chain=all&max_edges=${EDGES}`,
    // A graph of whole days is kept until something is written to them.
    reworded: (path, round) => path.replace(`max_edges=${EDGES}`, `max_edges=${EDGES - 1 - round}`),
    ours: (body) => [
      ...listed('meta.excluded', 'self_payments', 'usd:self_payment_usd')(body),
      ...listed('edges', 'payer', 'payee', 'usd:usd', 'count', 'time:first_seen', 'time:last_seen')(body),
    ],
    sql: [
      `SELECT CASE WHEN payer = payee THEN ''::bytea ELSE payer END AS a, CASE WHEN payer = payee THEN ''::bytea ELSE payee END AS b,
          sum(total) AS total, sum(n), extract(epoch FROM min(first_time))::bigint, extract(epoch FROM max(last_time))::bigint
        FROM (${settlements}) AS counted GROUP BY 1, 2 ORDER BY bool_or(payer = payee) DESC, total DESC, 1, 2 LIMIT ${EDGES + 2}`,
    ],
    theirs: ([rows = []]) => {
      const isSelf = ([payer]: readonly string[]) => payer === '0x';
      const [, , usd = '0', count = '0'] = rows.find(isSelf) ?? [];
      const edges = rows.filter((row) => !isSelf(row)).slice(0, EDGES);
      return [`${count} ${usd}`, ...edges.map((row) => row.join(' '))];
    },
  };
}

const GRAPHS: readonly MarketQuestion[] = [
  // Around one wallet: a range of each of two indexes of the pairs by day.
  {
    ...graph(
      { name: 'graph-of-{kind}-wallet', kind: 'point', path: '/v0/graph?days=90&wallet={1}' },
      `${PAIR_DAY} AND day >= {today-90} AND payee = $1
        UNION ALL ${PAIR_DAY} AND day >= {today-90} AND payer = $1 AND payee <> $1`,
    ),
    ...{ bounded: 'but hot', of: 'merchants', kinds: EVERY },
  },
  graph(
    { name: 'graph-of-window', kind: 'scan', path: `/v0/graph?window=${WINDOW}` },
    `SELECT payer, payee, 1 AS n, micros AS total, block_time AS first_time, block_time AS last_time FROM settlements
      ORDER BY ${NEWEST_FIRST} LIMIT ${WINDOW}`,
  ),
  {
    ...graph(
      { name: 'graph-of-days', kind: 'scan', path: '/v0/graph?days=30' },
      `${PAIR_DAY} AND day >= {today-30}`,
    ),
    goalMs: { all: [60, 200] },
  },
];

export const MARKET: readonly MarketQuestion[] = [...FLOWS, ...WALLETS, ...PAIRS, ...LISTS, ...GRAPHS];
