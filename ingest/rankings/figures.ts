import { commaList, type Sql, sql, trustedText, uint32 } from '../../clickhouse/engine/sql.ts';
import { SHARE_COLUMNS, verdictOf } from '../../clickhouse/engine/verdict-rule.ts';
import { type JudgedRole, SAMPLE_MIN_SETTLEMENTS } from '../../core/domain/data-quality.ts';
import { during, type FlowScope, flows } from './flows.ts';
import { RING_COUNTS, RING_PAIRS } from './rings.ts';
import { twoWay } from './two-way.ts';
import { type WalletRange, within } from './wallet-ranges.ts';

/**
 * The figures of every wallet in one role: what it paid or was paid in each window, and how much of it is organic (docs/methodology.md,
 * "Rankings"): not paid by a wallet to itself, not between members of one ring, and not between two wallets that paid each other. All payments
 * count in them; the verdict is on those that are no dust.
 */

export interface FiguresScope {
  readonly scope: FlowScope;
  readonly role: JudgedRole;
  /** The wallets whose figures are wanted. */
  readonly among: WalletRange;
  /** The generation that has the wallets which pay and are paid (two-way.ts). */
  readonly staged: bigint;
}

/** Whole millionths in 256 bits, whose squares are exact. */
const micros = (usd: Sql): Sql => sql`toInt256(toDecimal256(${usd}, 6) * 1000000)`;

const FIGURES = ['n', 'usd', 'proven'] as const;
/** Columns exist for as many windows, whatever the scope has: growth needs the dollars of a third. */
const COLUMNS = [
  { figure: 'n', organic: 'organic_count', windows: 2 },
  { figure: 'usd', organic: 'organic_usd', windows: 3 },
  { figure: 'proven', organic: 'organic_proven', windows: 2 },
] as const;
const PARTIES_WINDOWS = 2;

const column = (name: string, window: number): Sql => trustedText(`${name}${window}`);

/** The sums of every span as `<prefix>n0`, `<prefix>usd0` …, over the columns of `flows` where `when` holds. */
function spanSums({ spans }: FlowScope, prefix: string, when: Sql): Sql[] {
  return spans.flatMap((span, index) =>
    FIGURES.map(
      (figure) =>
        sql`sumIf(${trustedText(figure)}, ${when} AND ${during(sql`at`, span)}) AS ${column(`${prefix}${figure}`, index)}`,
    ),
  );
}

/**
 * Groups by these columns on each chain and, where there are several, once more on all of them together: there `chain` is '', and two
 * wallets paid each other on whatever chain.
 */
function groupBy({ chains }: FlowScope, columns: Sql): Sql {
  return chains.length === 1
    ? sql`GROUP BY chain, ${columns}`
    : sql`GROUP BY GROUPING SETS ((chain, ${columns}), (${columns}))`;
}

/** What of the newest window is judged, and in how many payments of all windows together. */
function judgedSums({ spans }: FlowScope, prefix: string, when: Sql): Sql[] {
  const [now, oldest] = [spans[0], spans.at(-1)];
  if (now === undefined || oldest === undefined) throw new TypeError('a ranking without a window');
  return [
    sql`sumIf(judged_usd, ${when} AND ${during(sql`at`, now)}) AS ${trustedText(`${prefix}judged_usd0`)}`,
    sql`sumIf(judged_n, ${when} AND ${during(sql`at`, { from: oldest.from, to: now.to })}) AS ${trustedText(`${prefix}judged_any`)}`,
  ];
}

/**
 * One row for each wallet and counterparty of `rows`: chain, wallet, other, the sums of every span, judged_usd0, is_self, is_mutual (the other
 * one paid, too, in any of the spans), is_judged_mutual (the same without dust) and is_organic. Both directions of a pair are added up in one
 * group.
 */
function pairs({ scope, role }: FiguresScope, rows: Sql): Sql {
  const indexes = scope.spans.map((_, index) => index);
  const both = [
    ...spanSums(scope, 'forth_', sql`payer = lo`),
    ...spanSums(scope, 'back_', sql`payer != lo`),
    ...judgedSums(scope, 'forth_', sql`payer = lo`),
    ...judgedSums(scope, 'back_', sql`payer != lo`),
    sql`${dayByDay(scope, sql`payer = lo`)} AS forth_days`,
    sql`${dayByDay(scope, sql`payer != lo`)} AS back_days`,
  ];
  const chosen = indexes.flatMap((index) =>
    FIGURES.map(
      (figure) =>
        sql`if(is_back, ${column(`back_${figure}`, index)}, ${column(`forth_${figure}`, index)}) AS ${column(figure, index)}`,
    ),
  );
  const any = (direction: string): Sql =>
    trustedText(`(${indexes.map((index) => `${direction}_n${index}`).join(' + ')}) > 0`);
  // Forth, `lo` pays `hi`.
  const walletIsLo = role === 'payer' ? sql`NOT is_back` : sql`is_back`;
  return sql`SELECT chain, if(${walletIsLo}, lo, hi) AS wallet, if(${walletIsLo}, hi, lo) AS other, ${commaList(chosen)}, if(is_back, back_days, forth_days) AS days,
      if(is_back, back_judged_usd0, forth_judged_usd0) AS judged_usd0,
      lo = hi AS is_self, NOT is_self AND ${any('forth')} AND ${any('back')} AS is_mutual,
      NOT is_self AND forth_judged_any > 0 AND back_judged_any > 0 AS is_judged_mutual,
      NOT is_self AND NOT is_mutual AND (lo, hi) NOT IN ${RING_PAIRS} AS is_organic
    FROM (
      SELECT chain, lo, hi, ${commaList(both)}
      FROM (SELECT *, least(payer, payee) AS lo, greatest(payer, payee) AS hi FROM (${rows})) ${groupBy(scope, sql`lo, hi`)})
    ARRAY JOIN [false, true] AS is_back
    WHERE if(is_back, ${any('back')}, ${any('forth')})`;
}

/** Days of the newest window with their settlements, dollars and proven dollars, over the columns of `flows` where `when` holds. */
function dayByDay({ spans: [now] }: FlowScope, when: Sql): Sql {
  const counts = now === undefined ? when : sql`${when} AND ${during(sql`at`, now)}`;
  return sql`sumMapIf([toUInt16(toDate(at))], [n], [usd], [proven], ${counts})`;
}

/** What of a wallet's payments is not organic, and from whom: columns lost_n0 …, lost_parties0 …, lost_days, excluded; and what is judged, self_usd and mutual_usd. */
function lostFigures(of: FiguresScope): Sql {
  const { scope, role, among, staged } = of;
  const lost = scope.spans.flatMap((_, index) => [
    ...FIGURES.map(
      (figure) => sql`sumIf(${column(figure, index)}, NOT is_organic) AS ${column(`lost_${figure}`, index)}`,
    ),
    sql`countIf(NOT is_organic AND ${column('n', index)} > 0) AS ${column('lost_parties', index)}`,
  ]);
  // Both directions of a pair: what the wallet was paid, and what it paid.
  const ofWallets = sql`(${within(sql`payer`, among)} OR ${within(sql`payee`, among)})`;
  const rows = flows(scope, role, [
    ofWallets,
    sql`payer IN ${twoWay(staged)}`,
    sql`payee IN ${twoWay(staged)}`,
  ]);
  return sql`SELECT chain, wallet, ${commaList(lost)}, sumIf(judged_usd0, is_self) AS self_usd, sumIf(judged_usd0, is_judged_mutual) AS mutual_usd,
      sumMapIf(days.1, days.2, days.3, days.4, NOT is_organic) AS lost_days, groupArrayIf(other, NOT is_organic) AS excluded
    FROM (${pairs(of, rows)})
    WHERE ${within(sql`wallet`, among)}
    GROUP BY chain, wallet`;
}

/**
 * How narrowly a wallet's dollars of the window are spread, without dust: columns largest_usd and squared. Only of wallets with enough
 * settlements to be judged, because it takes a group for each pair.
 */
function narrowFigures({ scope, role, among }: FiguresScope, now: Sql): Sql {
  const [wallet] = sides(role);
  const wanted = within(wallet, among);
  const judged = sql`(SELECT ${wallet} FROM (${flows(scope, role, [wanted])}) WHERE ${now} GROUP BY ${wallet}
    HAVING sum(judged_n) >= ${uint32(SAMPLE_MIN_SETTLEMENTS)})`;
  return sql`SELECT chain, wallet, max(sum_usd) AS largest_usd, sum(${micros(sql`sum_usd`)} * ${micros(sql`sum_usd`)}) AS squared
    FROM (SELECT chain, ${wallet} AS wallet, sum(judged_usd) AS sum_usd
      FROM (${flows(scope, role, [wanted, sql`${wallet} IN ${judged}`, sql`payer != payee`])}) WHERE ${now} ${groupBy(scope, sql`payer, payee`)})
    GROUP BY chain, wallet`;
}

function sides(role: JudgedRole): readonly [wallet: Sql, counterparty: Sql] {
  return role === 'payer' ? [sql`payer`, sql`payee`] : [sql`payee`, sql`payer`];
}

/** The columns of `ranked_wallets` from `chain` to `lost_proven`. */
export function walletFigures(of: FiguresScope): Sql {
  const { scope, role, among } = of;
  const [wallet, other] = sides(role);
  const [now] = scope.spans;
  if (now === undefined) throw new TypeError('a ranking without a window');
  const met = scope.spans.map(
    (span, index) => sql`uniqExactIf(${other}, ${during(sql`at`, span)}) AS ${column('met', index)}`,
  );
  const organic = COLUMNS.flatMap(({ figure, windows }) =>
    Array.from({ length: windows }, (_, index) =>
      index < scope.spans.length
        ? sql`${column(figure, index)} - ${column(`lost_${figure}`, index)}`
        : zero(figure),
    ),
  );
  const parties = Array.from({ length: PARTIES_WINDOWS }, (_, index) =>
    index < scope.spans.length ? sql`${column('met', index)} - ${column('lost_parties', index)}` : zero('n'),
  );
  const judged = [
    sql`sumIf(judged_n, ${during(sql`at`, now)}) AS judged_n0`,
    sql`sumIf(judged_usd, ${during(sql`at`, now)}) AS judged_usd0`,
  ];
  // Of a wallet that did nothing in the window but in the one before.
  const verdict = sql`if(n0 = 0, 'unobserved', ${verdictOf(role)})`;
  return sql`SELECT chain, wallet, ${commaList([...organic, ...parties])}, lost_usd0, lost_n0, ${verdict}, excluded, lost_days.1, lost_days.2, lost_days.3, lost_days.4
    FROM (SELECT *, ${SHARE_COLUMNS} FROM (
      SELECT *, judged_n0 AS settlements, ${micros(sql`judged_usd0`)} AS gross, ${micros(sql`self_usd`)} AS self, ${micros(sql`mutual_usd`)} AS mutual,
        ${micros(sql`largest_usd`)} AS largest
      FROM (SELECT chain, ${wallet} AS wallet, ${commaList([...spanSums(scope, '', sql`1`), ...judged, ...met])}
        FROM (${flows(scope, role, [within(wallet, among)])}) ${groupBy(scope, wallet)}) AS paid
      LEFT JOIN (${lostFigures(of)}) AS lost USING (chain, wallet)
      LEFT JOIN (${narrowFigures(of, during(sql`at`, now))}) AS narrow USING (chain, wallet)
      LEFT JOIN ${RING_COUNTS} AS ringed_wallets ON wallet = ringed))`;
}

/** The columns that `walletFigures` gives, in its order. */
export const FIGURE_COLUMNS: readonly string[] = [
  'chain',
  'wallet',
  ...COLUMNS.flatMap(({ organic, windows }) =>
    Array.from({ length: windows }, (_, index) => `${organic}${index}`),
  ),
  ...Array.from({ length: PARTIES_WINDOWS }, (_, index) => `parties${index}`),
  'other_usd',
  'other_count',
  'verdict',
  'excluded',
  'lost_days',
  'lost_count',
  'lost_usd',
  'lost_proven',
];

function zero(figure: (typeof FIGURES)[number]): Sql {
  return figure === 'n' ? sql`toUInt64(0)` : sql`toDecimal128(0, 6)`;
}
