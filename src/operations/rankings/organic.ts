import { allOf, dateTime, type Sql, sql, texts, trustedText } from '../../../clickhouse/engine/sql.ts';
import type { RollupCoverage } from '../../../clickhouse/tables/coverage.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import {
  type JudgedRole,
  MOSTLY_ROUND_SHARE,
  SAMPLE_MIN_SETTLEMENTS,
  SHARE_SCALE,
  SIGNALS,
  SIGNALS_OF_ROLE,
  type SignalId,
  type SignalKind,
} from '../../../core/domain/data-quality.ts';
import type { Window } from '../../../core/domain/window.ts';
import { TWO_THREADS } from '../ask.ts';
import { PAIR_SETTINGS, pairsBetween } from '../index-state/pairs.ts';
import { cutBy, type Span, spansOf } from './windows.ts';

/**
 * Payments added up by pair of wallets, and which of them are organic (docs/methodology.md, "Rankings"): not of a wallet to itself, not
 * between members of one ring, and not between two wallets that paid each other.
 */

export interface FlowScope {
  readonly chains: readonly Chain[];
  /** Newest first; together without a gap. */
  readonly spans: readonly Span[];
  /** As `cutBy` gives it. */
  readonly coverage: RollupCoverage;
}

/** A window, and `spans` - 1 of the same length before it. */
export function flowScope(
  window: Window,
  {
    chains,
    nowMs,
    coverage,
    spans: count,
  }: {
    readonly chains: readonly Chain[];
    readonly nowMs: number;
    readonly coverage: RollupCoverage;
    readonly spans: number;
  },
): FlowScope {
  const spans = spansOf(window, Math.floor(nowMs / 1_000), count);
  return { chains, spans, coverage: cutBy(coverage, window, spans) };
}

export const RANKING_SETTINGS = { ...TWO_THREADS, ...PAIR_SETTINGS } as const;

type Side = 'payer' | 'payee';

/** What was paid: columns chain, payer, payee, at (a moment inside the slice), n, usd, proven. `parties`: conditions on payer and payee alone. */
function flows({ chains, spans, coverage }: FlowScope, sortedBy: Side, parties: readonly Sql[] = []): Sql {
  const span = { from: spans.at(-1)?.from ?? 0, to: null };
  const [only] = chains;
  const isOne = chains.length === 1;
  const conditions = [...(isOne ? [] : [sql`chain IN ${texts(chains)}`]), ...parties];
  return sql`SELECT chain, payer, payee, first_time AS at, settlement_count AS n, settled_usd AS usd, proven_usd AS proven
    FROM ${pairsBetween(span, { chain: isOne ? only : undefined, sortedBy }, coverage)} WHERE ${allOf(conditions)}`;
}

/** All that the wallets of a set paid and were paid: two ranges of a key each, where one condition on both would read everything. */
export function flowsOf(scope: FlowScope, wallets: Sql): Sql {
  return sql`${flows(scope, 'payer', [sql`payer IN ${wallets}`])}
    UNION ALL ${flows(scope, 'payee', [sql`payee IN ${wallets}`, sql`payer NOT IN ${wallets}`])}`;
}

/** Condition that a moment lies in a span. */
export function during(at: Sql, { from, to }: Span): Sql {
  const since = sql`${at} >= ${dateTime(from)}`;
  return to === null ? sql`(${since})` : sql`(${since} AND ${at} < ${dateTime(to)})`;
}

/** Ordered pairs of different members of a ring of the newest pass. */
const RING_PAIRS: Sql = sql`(SELECT DISTINCT pair.1, pair.2 FROM (
    SELECT arrayJoin(arrayFlatten(arrayMap(a -> arrayMap(b -> (a, b), members), members))) AS pair
    FROM (SELECT arrayMap(one -> toFixedString(unhex(substring(one, 3)), 20), members) AS members
      FROM wallet_rings WHERE gen = (SELECT max(gen) FROM ring_passes))))`;

/** How many rings of the newest pass a wallet is in: columns ringed, rings. */
export const RING_COUNTS: Sql = sql`(SELECT toFixedString(unhex(substring(wallet, 3)), 20) AS ringed, count() AS rings
  FROM wallet_rings WHERE gen = (SELECT max(gen) FROM ring_passes) GROUP BY ringed)`;

/** Whole millionths in 256 bits, whose squares are exact. */
export const micros = (usd: Sql): Sql => sql`toInt256(toDecimal256(${usd}, 6) * 1000000)`;

const FIGURES = ['n', 'usd', 'proven'] as const;

/** The sums of every span, as n0, usd0, proven0, n1 …, over the columns of `flows` where `when` holds. */
function spanSums({ spans }: FlowScope, prefix: string, when: Sql): Sql[] {
  return spans.flatMap((span, index) =>
    FIGURES.map(
      (figure) =>
        sql`sumIf(${trustedText(figure)}, ${when} AND ${during(sql`at`, span)}) AS ${trustedText(`${prefix}${figure}${index}`)}`,
    ),
  );
}

const chainColumn = (byChain: boolean): Sql => (byChain ? sql`chain` : sql`'' AS chain`);

interface PairsQuery {
  readonly scope: FlowScope;
  /** Which party a row is about. */
  readonly side: Side;
  /** Whether chains are kept apart; else column `chain` is ''. */
  readonly byChain: boolean;
  /** Rows of `flows`, with those of the way back of each pair. */
  readonly of: Sql;
  /** One more sum of each direction, over the columns of `flows` where the condition holds. */
  readonly extra?: { readonly name: string; sum(when: Sql): Sql };
}

/**
 * One row for each wallet and counterparty: chain, wallet, other, the sums of every span, is_self, is_mutual (the other one paid, too, in any
 * of the spans) and is_organic. Both directions of a pair are added up in one group, so that a look at the way back costs no second read.
 */
export function pairs({ scope, side, byChain, of, extra }: PairsQuery): Sql {
  const indexes = scope.spans.map((_, index) => index);
  const more = (prefix: string, when: Sql): Sql[] =>
    extra === undefined ? [] : [sql`${extra.sum(when)} AS ${trustedText(`${prefix}${extra.name}`)}`];
  const both = [
    ...spanSums(scope, 'forth_', sql`payer = lo`),
    ...more('forth_', sql`payer = lo`),
    ...spanSums(scope, 'back_', sql`payer != lo`),
    ...more('back_', sql`payer != lo`),
  ];
  const names = [
    ...indexes.flatMap((index) => FIGURES.map((figure) => `${figure}${index}`)),
    ...(extra === undefined ? [] : [extra.name]),
  ];
  const chosen = names.map(
    (name) =>
      sql`if(is_back, ${trustedText(`back_${name}`)}, ${trustedText(`forth_${name}`)}) AS ${trustedText(name)}`,
  );
  const any = (direction: string): Sql =>
    trustedText(`(${indexes.map((index) => `${direction}_n${index}`).join(' + ')}) > 0`);
  // Forth, `lo` pays `hi`.
  const walletIsLo = side === 'payer' ? sql`NOT is_back` : sql`is_back`;
  return sql`SELECT chain, if(${walletIsLo}, lo, hi) AS wallet, if(${walletIsLo}, hi, lo) AS other, ${listOf(chosen)},
      lo = hi AS is_self, NOT is_self AND ${any('forth')} AND ${any('back')} AS is_mutual,
      NOT is_self AND NOT is_mutual AND (lo, hi) NOT IN ${RING_PAIRS} AS is_organic
    FROM (
      SELECT ${chainColumn(byChain)}, least(payer, payee) AS lo, greatest(payer, payee) AS hi, ${listOf(both)}
      FROM (${of}) GROUP BY chain, lo, hi)
    ARRAY JOIN [false, true] AS is_back
    WHERE if(is_back, ${any('back')}, ${any('forth')})`;
}

type FiguresQuery = Pick<PairsQuery, 'scope' | 'side' | 'byChain'> & { readonly countsParties: boolean };

/**
 * A row for each wallet with its sums of every span, all (n0, …) and organic (organic_n0, …), its organic counterparties (parties0, …;
 * zeros unless `countsParties`), and what `isSuspect` needs.
 *
 * Payments that are not organic have both ends among a few wallets: those that pay and are paid, and members of rings. So the pairs of these
 * alone are added up and taken off the sums of all payments: a twentieth of the groups that all pairs would be. Likewise only wallets
 * with money that came back can be suspect, so only their payments are looked at counterparty by counterparty.
 */
export function walletFigures({ scope, side, byChain, countsParties }: FiguresQuery): Sql {
  const other: Side = side === 'payer' ? 'payee' : 'payer';
  const [wallet, counterparty] = [trustedText(side), trustedText(other)];
  const indexes = scope.spans.map((_, index) => index);
  const name = (figure: string, index: number): Sql => trustedText(`${figure}${index}`);
  const met = scope.spans.map((span, index) =>
    countsParties
      ? sql`uniqExactIf(${counterparty}, ${during(sql`at`, span)}) AS ${name('met', index)}`
      : sql`toUInt64(0) AS ${name('met', index)}`,
  );
  const lost = indexes.map(
    (index) => sql`sumIf(${name('n', index)}, NOT is_organic) AS ${name('lost_n', index)},
      sumIf(${name('usd', index)}, NOT is_organic) AS ${name('lost_usd', index)},
      sumIf(${name('proven', index)}, NOT is_organic) AS ${name('lost_proven', index)},
      countIf(NOT is_organic AND ${name('n', index)} > 0) AS ${name('lost_parties', index)}`,
  );
  const organic = indexes.map(
    (index) => sql`${name('n', index)} - ${name('lost_n', index)} AS ${name('organic_n', index)},
      ${name('usd', index)} - ${name('lost_usd', index)} AS ${name('organic_usd', index)},
      ${name('proven', index)} - ${name('lost_proven', index)} AS ${name('organic_proven', index)},
      ${countsParties ? sql`${name('met', index)} - ${name('lost_parties', index)}` : sql`toUInt64(0)`} AS ${name('parties', index)}`,
  );
  const twoWay = sql`(
    SELECT payee FROM (SELECT DISTINCT payee FROM (${flows(scope, 'payee')})) WHERE payee IN (SELECT DISTINCT payer FROM (${flows(scope, 'payer')}))
    UNION DISTINCT SELECT ringed FROM ${RING_COUNTS})`;
  const returned = sql`SELECT chain, wallet, ${listOf(lost)}, sumIf(usd0, is_self) AS self_usd, sumIf(usd0, is_mutual) AS mutual_usd
    FROM (${pairs({ scope, side, byChain, of: flows(scope, side, [sql`payer IN ${twoWay}`, sql`payee IN ${twoWay}`]) })})
    GROUP BY chain, wallet`;
  const [now] = scope.spans;
  if (now === undefined) throw new TypeError('a ranking without a window');
  const judged = sql`(SELECT wallet FROM (${returned}) WHERE self_usd > 0 OR mutual_usd > 0 UNION DISTINCT SELECT ringed FROM ${RING_COUNTS})`;
  const narrow = sql`SELECT chain, wallet, max(sum_usd) AS largest_usd, sum(${micros(sql`sum_usd`)} * ${micros(sql`sum_usd`)}) AS squared
    FROM (SELECT ${chainColumn(byChain)}, ${wallet} AS wallet, ${counterparty} AS other, sum(usd) AS sum_usd
      FROM (${flows(scope, side, [sql`${wallet} IN ${judged}`, sql`payer != payee`])}) WHERE ${during(sql`at`, now)} GROUP BY chain, wallet, other)
    GROUP BY chain, wallet`;
  return sql`SELECT chain, wallet, ${listOf(indexes.flatMap((index) => FIGURES.map((figure) => name(figure, index))))}, ${listOf(organic)},
      n0 AS settlements, ${micros(sql`usd0`)} AS gross, ${micros(sql`self_usd`)} AS self, ${micros(sql`mutual_usd`)} AS mutual,
      ${micros(sql`largest_usd`)} AS largest, squared, rings
    FROM (SELECT ${chainColumn(byChain)}, ${wallet} AS wallet, ${listOf([...spanSums(scope, '', sql`1`), ...met])}
      FROM (${flows(scope, side)}) GROUP BY chain, wallet) AS paid
    LEFT JOIN (${returned}) AS returned USING (chain, wallet)
    LEFT JOIN (${narrow}) AS narrow USING (chain, wallet)
    LEFT JOIN ${RING_COUNTS} AS ringed_wallets ON wallet = ringed`;
}

export function listOf(items: readonly Sql[]): Sql {
  const [first, ...rest] = items;
  if (first === undefined) throw new TypeError('a list of nothing');
  return rest.reduce((all, next) => sql`${all}, ${next}`, first);
}

const whole = (number: bigint | number): Sql => trustedText(String(number));

/**
 * Whether `judge` calls a wallet suspect, over settlements, gross, self, mutual, largest, squared and rings: the same rule and thresholds, so that the engine can leave such
 * wallets out before it cuts the ranking.
 */
export function isSuspect(role: JudgedRole): Sql {
  const triggered = SIGNALS_OF_ROLE[role].map((id) => {
    const { kind, threshold } = SIGNALS[id];
    return { kind, condition: reaches(id, threshold) };
  });
  const ofKind = (kind: SignalKind): Sql =>
    anyOf(triggered.filter((signal) => signal.kind === kind).map(({ condition }) => condition));
  const mostlyRound = anyOf([
    reaches('self_payment_share', MOSTLY_ROUND_SHARE),
    reaches('reciprocity', MOSTLY_ROUND_SHARE),
  ]);
  return sql`(settlements >= ${whole(SAMPLE_MIN_SETTLEMENTS)} AND (${mostlyRound} OR (${ofKind('round')} AND ${ofKind('narrow')})))`;
}

/** The value of a signal against a threshold, without a division. */
function reaches(id: SignalId, threshold: bigint): Sql {
  const rest = sql`(gross - self)`;
  switch (id) {
    case 'self_payment_share':
      return shareReaches(sql`self`, sql`gross`, threshold);
    case 'payer_concentration':
    case 'payee_concentration':
      return shareReaches(sql`squared`, sql`(${rest} * ${rest})`, threshold);
    case 'single_payer_dominance':
    case 'single_payee_dominance':
      return shareReaches(sql`largest`, rest, threshold);
    case 'reciprocity':
      return shareReaches(sql`mutual`, rest, threshold);
    case 'ring_membership':
      return sql`rings >= ${whole(threshold)}`;
  }
}

function shareReaches(part: Sql, of: Sql, threshold: bigint): Sql {
  return sql`(${of} > 0 AND ${part} * ${whole(SHARE_SCALE)} >= ${of} * ${whole(threshold)})`;
}

function anyOf(conditions: readonly Sql[]): Sql {
  const [first, ...rest] = conditions;
  if (first === undefined) return sql`0`;
  return sql`(${rest.reduce((all, next) => sql`${all} OR ${next}`, first)})`;
}
