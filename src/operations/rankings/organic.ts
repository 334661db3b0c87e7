import { allOf, dateTime, type Sql, sql, texts, trustedText } from '../../../clickhouse/engine/sql.ts';
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
import { TWO_THREADS } from '../ask.ts';
import { PAIR_SETTINGS, pairsBetween } from '../index-state/pairs.ts';
import type { RollupCoverage } from '../index-state/rollups.ts';
import type { Window } from './orders.ts';
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

/**
 * What was paid: columns chain, payer, payee, at (a moment inside the slice), n, usd, proven. `parties`: conditions on payer and payee alone.
 */
function flows({ chains, spans, coverage }: FlowScope, parties: readonly Sql[]): Sql {
  const span = { from: spans.at(-1)?.from ?? 0, to: null };
  const [only] = chains;
  const isOne = chains.length === 1;
  const conditions = [...(isOne ? [] : [sql`chain IN ${texts(chains)}`]), ...parties];
  return sql`SELECT chain, payer, payee, first_time AS at, settlement_count AS n, settled_usd AS usd, proven_usd AS proven
    FROM ${pairsBetween(span, { chain: isOne ? only : undefined }, coverage)} WHERE ${allOf(conditions)}`;
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

export interface PairsQuery {
  readonly scope: FlowScope;
  /** Which party a row is about. */
  readonly side: 'payer' | 'payee';
  /** Whether chains are kept apart; else column `chain` is ''. */
  readonly byChain: boolean;
  readonly parties?: readonly Sql[];
  /** More sums of one direction, over the columns of `flows`: name and expression of the rows that `isOfSide` holds for. */
  readonly extra?: readonly { readonly name: string; sum(isForth: Sql): Sql }[];
}

/**
 * One row for each wallet and counterparty: chain, wallet, other, the sums of every span, is_self, is_mutual (the other one paid, too, in any
 * of the spans) and is_organic. Both directions of a pair are added up in one group, so that a look at the way back costs no second read.
 */
export function pairs({ scope, side, byChain, parties = [], extra = [] }: PairsQuery): Sql {
  const indexes = scope.spans.map((_, index) => index);
  const forth = sql`payer = lo`;
  const back = sql`payer != lo`;
  const sums = (direction: 'forth' | 'back'): Sql => {
    const condition = direction === 'forth' ? forth : back;
    const spanSums = scope.spans.flatMap((span, index) => {
      const when = sql`${condition} AND ${during(sql`at`, span)}`;
      const name = (figure: string): Sql => trustedText(`${direction}_${figure}${index}`);
      return [
        sql`sumIf(n, ${when}) AS ${name('n')}`,
        sql`sumIf(usd, ${when}) AS ${name('usd')}`,
        sql`sumIf(proven, ${when}) AS ${name('proven')}`,
      ];
    });
    const more = extra.map(
      ({ name, sum }) => sql`${sum(condition)} AS ${trustedText(`${direction}_${name}`)}`,
    );
    return listOf([...spanSums, ...more]);
  };
  const names = [
    ...indexes.flatMap((index) => [`n${index}`, `usd${index}`, `proven${index}`]),
    ...extra.map(({ name }) => name),
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
      SELECT ${byChain ? sql`chain` : sql`'' AS chain`}, least(payer, payee) AS lo, greatest(payer, payee) AS hi, ${sums('forth')}, ${sums('back')}
      FROM (${flows(scope, parties)} ) GROUP BY chain, lo, hi)
    ARRAY JOIN [false, true] AS is_back
    WHERE if(is_back, ${any('back')}, ${any('forth')})`;
}

export function listOf(items: readonly Sql[]): Sql {
  const [first, ...rest] = items;
  if (first === undefined) throw new TypeError('a list of nothing');
  return rest.reduce((all, next) => sql`${all}, ${next}`, first);
}

const micros = (usd: Sql): Sql => sql`toInt256(toDecimal256(${usd}, 6) * 1000000)`;

/** What a wallet is judged by (core/domain/data-quality.ts), over its rows of `pairs`, as whole millionths. */
export const JUDGED_COLUMNS: Sql = sql`sum(n0) AS settlements, ${micros(sql`sum(usd0)`)} AS gross,
  ${micros(sql`sumIf(usd0, is_self)`)} AS self, ${micros(sql`maxIf(usd0, NOT is_self)`)} AS largest,
  sumIf(${micros(sql`usd0`)} * ${micros(sql`usd0`)}, NOT is_self) AS squared, ${micros(sql`sumIf(usd0, is_mutual)`)} AS mutual`;

const whole = (number: bigint | number): Sql => trustedText(String(number));

/**
 * Whether `judge` calls a wallet suspect, over `JUDGED_COLUMNS` and `rings`: the same rule and thresholds, so that the engine can leave such
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
