import { accountText } from '../../clickhouse/engine/account.ts';
import { IS_COUNTED } from '../../clickhouse/engine/counted-rows.ts';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import {
  commaList,
  dateTime,
  type Sql,
  sql,
  texts,
  trustedText,
  uint32,
  uint64,
} from '../../clickhouse/engine/sql.ts';
import {
  ENDPOINT_COUNTS,
  hoursFrom,
  observedFrom,
  observedSpans,
} from '../../clickhouse/tables/endpoints.ts';
import { insertRows } from '../../clickhouse/tables/table.ts';
import type { PayeeConfig } from '../../core/config/catalogue.ts';
import { address } from '../../core/domain/account.ts';
import { type Chain, isChain } from '../../core/domain/chains.ts';
import { EVIDENCE_LADDER, EVIDENCE_METHODS } from '../../core/domain/evidence.ts';
import { VERSION_UNITS_PER_MS } from '../../core/domain/settlement.ts';
import { OFFERS } from './offers.ts';

/**
 * Recounts the payments to offers and their addresses from the rows themselves, so that the figures follow every reorg and regrade.
 * Works entirely in SQL: the engine reads the payments of listed addresses and writes changed figures.
 */

/** Counting reads the whole history of listed addresses, and nothing waits for it. */
const MAX_SECONDS = 1_800;
const MEBIBYTE = 1024 * 1024;
/** Readers and the chains come first; how often this runs depends on how long it took (follow.ts). */
const SETTINGS = {
  max_threads: 2,
  max_memory_usage: 2_048 * MEBIBYTE,
  max_bytes_before_external_group_by: 512 * MEBIBYTE,
} as const;

interface Count {
  readonly chains: readonly Chain[];
  readonly nowMs: number;
  /** Above every one given before. */
  readonly ver: bigint;
}

/** True when anything is other than it was stored. */
export async function countActivity(writer: Writer, { chains, nowMs, ver }: Count): Promise<boolean> {
  const now = Math.floor(nowMs / 1_000);
  let written = 0;
  for (const [name, statement] of [
    [
      'payee_activity',
      storeSql(ofPayees(), observedPayments({ chains, since: observedFrom(now) }), { now, ver }),
    ],
    ['offer_activity', storeSql(ofOffers(now), paymentsOfOffers(chains), { now, ver })],
  ] as const) {
    await writer.run({
      name: `endpoint-${name}`,
      sql: statement,
      maxSeconds: MAX_SECONDS,
      settings: SETTINGS,
    });
    written += await countWritten(writer, name, ver);
  }
  return written > 0;
}

/** Records when the listed figures were counted; once the list that follows from the count is derived. */
export function recordCount(writer: Writer, { nowMs, ver }: Pick<Count, 'nowMs' | 'ver'>): Promise<void> {
  return insertRows(writer, {
    name: 'endpoint-count',
    table: ENDPOINT_COUNTS,
    rows: [{ of: 'observed', countedAt: Math.floor(nowMs / 1_000) }],
    fixed: { ver },
  });
}

async function countWritten(
  writer: Writer,
  table: 'payee_activity' | 'offer_activity',
  ver: bigint,
): Promise<number> {
  const { rows } = await writer.rows({
    name: 'endpoint-activity-written',
    sql:
      table === 'payee_activity'
        ? sql`SELECT count() FROM payee_activity WHERE ver = ${uint64(ver)}`
        : sql`SELECT count() FROM offer_activity WHERE ver = ${uint64(ver)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  return Number(rows[0]?.[0]);
}

/** A table of activity: its key, where each part of the key is found in a payment, and the counted columns. */
interface ActivityTable {
  readonly table: Sql;
  readonly key: Sql;
  readonly keyOfPayment: Sql;
  /** By column: the aggregate over the payments of a key. */
  readonly figures: Readonly<Record<string, Sql>>;
}

function ofPayees(): ActivityTable {
  return {
    table: sql`payee_activity`,
    key: sql`pay_to, chain`,
    keyOfPayment: sql`pay_to, chain`,
    figures: {
      settlement_count: sql`count()`,
      unique_payers: sql`uniqCombined64(12)(payer)`,
      settled_usd: sql`sum(toDecimal128(usd, 6))`,
      last_settled_at: sql`max(at)`,
    },
  };
}

/** A payment counts once from each time at which an offer on its terms began. */
function ofOffers(now: number): ActivityTable {
  const shown = sql`at >= ${dateTime(observedFrom(now))}`;
  const spans = observedSpans(now).map(({ from, to }) =>
    to === null ? sql`at >= ${dateTime(from)}` : sql`at >= ${dateTime(from)} AND at < ${dateTime(to)}`,
  );
  const ofSpans = (figure: (span: Sql) => Sql): Sql => sql`[${commaList(spans.map(figure))}]`;
  return {
    table: sql`offer_activity`,
    key: sql`pay_to, chain, asset, is_range, amount, origin, since`,
    keyOfPayment: sql`pay_to, chain, asset, is_range, terms AS amount, origin, arrayJoin(starts) AS since`,
    figures: {
      settlement_count: sql`countIf(${shown})`,
      unique_payers: sql`uniqCombined64If(12)(payer, ${shown})`,
      settled_usd: sql`sumIf(toDecimal128(usd, 6), ${shown})`,
      last_settled_at: sql`maxIf(at, ${shown})`,
      span_counts: ofSpans((span) => sql`countIf(${span})`),
      span_payers: ofSpans((span) => sql`uniqCombined64If(12)(payer, ${span})`),
      span_usd: ofSpans((span) => sql`sumIf(toDecimal128(usd, 6), ${span})`),
      days: sql`arrayZip((sumMap([toDate(at)], [toUInt64(1)]) AS by_day).1, by_day.2)`,
      hours: sql`arrayZip((sumMapIf([toStartOfHour(at)], [toUInt64(1)], at >= ${dateTime(hoursFrom(now))}) AS by_hour).1, by_hour.2)`,
    },
  };
}

/** Compares counted with stored figures: writes a key whose figures differ, and a tombstone for a key without payments. */
function storeSql(
  { table, key, keyOfPayment, figures }: ActivityTable,
  payments: Sql,
  { now, ver }: { readonly now: number; readonly ver: bigint },
): Sql {
  const columns = trustedText(Object.keys(figures).join(', '));
  const counted = trustedText(
    Object.keys(figures)
      .map((_, at) => `counted.${at + 1}`)
      .join(', '),
  );
  return sql`INSERT INTO ${table} (${key}, ${columns}, counted_at, ver, del)
    SELECT ${key}, ${counted}, ${dateTime(now)}, ${uint64(ver)}, NOT is_paid
    FROM (
      SELECT ${key}, anyIf(figures, is_new) AS counted, anyIf(figures, NOT is_new) AS stored, countIf(is_new) > 0 AS is_paid,
        countIf(NOT is_new) > 0 AS is_stored
      FROM (
        SELECT 1 AS is_new, ${keyOfPayment}, tuple(${commaList(Object.values(figures))}) AS figures FROM (${payments}) GROUP BY ${key}
        UNION ALL
        SELECT 0, ${key}, tuple(${columns}) FROM ${table} FINAL WHERE del = 0)
      GROUP BY ${key})
    WHERE is_paid != is_stored OR counted != stored`;
}

/**
 * Which payments count as observed, and which offer each belongs to. A payment matches an offer by payee, chain, asset and amount (the
 * exact amount, or any up to a ceiling), and counts from when the offer first asked that amount. Any source can list another seller's
 * payee at the same price, so a payment that matches offers of several origins belongs to the origin listed first; if they were listed
 * at the same time, to the one whose own domain publishes it, else to none. Within an origin an exact amount takes precedence over a
 * ceiling, and a low ceiling over a high one. What settles off the chain claims no payment.
 */

interface Observed {
  readonly chains: readonly Chain[];
  /** Unix seconds; 0 for all of time. */
  readonly since: number;
}

/** Ceilings that are kept of one payee and asset: each payment to it is held against all of them. Those listed first stay. */
const CEILINGS_MAX = 64;

/** Grades that are evidence of an x402 payment. */
const OBSERVED_METHODS = EVIDENCE_METHODS.filter((method) =>
  ['proven', 'probable'].includes(EVIDENCE_LADDER[method].tier),
);

const LIVE = sql`endpoint_offers FINAL WHERE del = 0`;

/** Payments to listed addresses: pay_to, chain, asset, amount, payer, usd, at. Read by address, so only payments to them are. */
export function observedPayments({ chains, since }: Observed): Sql {
  return sql`SELECT wallet AS pay_to, chain, ${accountText('asset')} AS asset, amount, counterparty AS payer, amount_usd AS usd,
      block_time AS at
    FROM (SELECT wallet, chain, wallet_rows.asset AS asset, amount, counterparty, amount_usd, block_time, method, kind, del FROM wallet_rows FINAL
      WHERE wallet IN (SELECT pay_to FROM ${LIVE} AND chain IN ${texts(chains)}) AND role = 'payee' AND block_time >= ${dateTime(since)})
    WHERE ${IS_COUNTED} AND method IN ${texts(OBSERVED_METHODS)} AND ${accountText('payer')} != pay_to
      AND (pay_to, chain) IN (SELECT pay_to, chain FROM ${LIVE})`;
}

/** By payee, chain, asset and terms, without offers that no single payment is for: which origin the payments belong to ('' for none), its rank, and when its offers began. */
function ownedTerms(chains: readonly Chain[]): Sql {
  const claims = sql`SELECT pay_to, chain, asset, is_range, terms, origin,
      min(toUInt64(toUnixTimestamp(terms_since)) * 2 + NOT published) AS rank, groupUniqArray(since) AS starts
    FROM ${OFFERS} WHERE chain IN ${texts(chains)} AND terms > 0 AND unobserved != 'settles_off_chain'
    GROUP BY pay_to, chain, asset, is_range, terms, origin`;
  const ranked = sql`SELECT pay_to, chain, asset, is_range, terms, arraySort(groupArray((rank, origin, starts))) AS claims
    FROM (${claims}) GROUP BY pay_to, chain, asset, is_range, terms`;
  return sql`SELECT pay_to, chain, asset, is_range, terms, claims[1].1 AS first,
      if(length(claims) > 1 AND claims[2].1 = first, '', claims[1].2) AS owner, claims[1].3 AS starts FROM (${ranked})`;
}

/** Ceilings of a payee and asset, the origin that was listed first before all others, low ones before high ones. */
function ceilings(chains: readonly Chain[]): Sql {
  const ofOwners = sql`SELECT pay_to, chain, asset, owner, min(first) AS owner_first, groupArray((terms, starts)) AS theirs
    FROM (${ownedTerms(chains)}) WHERE is_range GROUP BY pay_to, chain, asset, owner`;
  return sql`SELECT pay_to, chain, asset,
      arraySlice(arraySort(groupArrayArray(arrayMap(one -> (owner_first, one.1, owner, one.2), theirs))), 1, ${uint32(CEILINGS_MAX)}) AS ceilings
    FROM (${ofOwners}) GROUP BY pay_to, chain, asset`;
}

/**
 * Observed payments with the terms that each belongs to: is_range, terms, origin, and `starts`, the times from which on it counts
 * for an offer. Payments that fit nothing, or belong to none, are missing.
 */
export function paymentsOfOffers(chains: readonly Chain[]): Sql {
  const fitting = sql`SELECT p.pay_to AS pay_to, p.chain AS chain, p.asset AS asset, p.amount AS amount, payer, usd, at, e.owner AS exact_owner, e.first AS exact_first, e.starts AS exact_starts, exact_first > 0 AS has_exact,
      arrayFilter(one -> one.2 >= p.amount, r.ceilings) AS above, above[1] AS ceiling, length(above) > 0 AS has_ceiling,
      arrayExists(one -> one.1 = ceiling.1 AND one.3 != ceiling.3, above) AS is_ceiling_tied
    FROM (${observedPayments({ chains, since: 0 })}) AS p
    LEFT JOIN (SELECT * FROM (${ownedTerms(chains)}) WHERE NOT is_range) AS e
      ON p.pay_to = e.pay_to AND p.chain = e.chain AND p.asset = e.asset AND p.amount = e.terms
    LEFT JOIN (${ceilings(chains)}) AS r ON p.pay_to = r.pay_to AND p.chain = r.chain AND p.asset = r.asset
    WHERE has_exact OR has_ceiling`;
  const isExact = sql`has_exact AND (NOT has_ceiling OR exact_owner = ceiling.3 OR exact_first < ceiling.1)`;
  const isCeiling = sql`NOT is_exact AND has_ceiling AND NOT is_ceiling_tied AND (NOT has_exact OR ceiling.1 < exact_first)`;
  return sql`SELECT pay_to, chain, asset, toUInt8(NOT is_exact) AS is_range, if(is_exact, amount, ceiling.2) AS terms,
      if(is_exact, exact_owner, ceiling.3) AS origin, payer, usd, at,
      arrayFilter(start -> start <= at, if(is_exact, exact_starts, ceiling.4)) AS starts
    FROM (SELECT *, ${isExact} AS is_exact, ${isCeiling} AS is_ceiling FROM (${fitting}))
    WHERE (is_exact OR is_ceiling) AND origin != ''`;
}

/**
 * The payee addresses of listed offers, as payees of the catalogue: a relayed payment to one of them is a payment to a catalogued
 * payee. A listing is only a claim, so the file and the configuration take precedence, and the number is bounded: those listed first
 * stay, regardless of later listings.
 */

/** A regrade reads the rows of every one of them, and the catalogue is held in memory. */
export const LISTED_PAYEES_MAX = 50_000;
const PAYEES_MAX_SECONDS = 60;
/**
 * How long an address stays after its last offer has disappeared from a source that is still read. Listings flicker, and a payee that
 * leaves the catalogue loses its bare transfers for good.
 */
export const LISTED_PAYEE_GRACE_MS = 7 * 86_400_000;

/** By the time at which they were first listed, then by chain and address. */
export async function loadListedPayees(
  writer: Writer,
  {
    chains,
    nowMs,
    payeesMax = LISTED_PAYEES_MAX,
  }: { readonly chains: readonly Chain[]; readonly nowMs: number; readonly payeesMax?: number },
): Promise<PayeeConfig[]> {
  const graceFrom = BigInt(Math.max(0, nowMs - LISTED_PAYEE_GRACE_MS)) * VERSION_UNITS_PER_MS;
  const { rows } = await writer.rows({
    name: 'listed-payees',
    sql: sql`SELECT chain, pay_to, argMin((service_name, resource), (first_seen, resource, method, source)) AS named
      FROM (SELECT chain, pay_to, service_name, resource, first_seen, method, source FROM endpoint_offers FINAL
        WHERE chain IN ${texts(chains)} AND (del = 0 OR (ver >= ${uint64(graceFrom)}
          AND source IN (SELECT source FROM endpoint_sources FINAL WHERE del = 0))))
      GROUP BY chain, pay_to ORDER BY min(first_seen), chain, pay_to LIMIT ${uint32(payeesMax)}`,
    maxSeconds: PAYEES_MAX_SECONDS,
    maxRows: payeesMax,
  });
  return rows.map(([chain, payTo, named]) => {
    const on = String(chain);
    if (!isChain(on)) throw new Error(`endpoint_offers names a chain that is none: ${on}`);
    const [serviceName = '', resource = ''] = Array.isArray(named) ? named.map(String) : [];
    return { chain: on, address: address(String(payTo)), name: serviceName || hostOf(resource), resource };
  });
}

function hostOf(resource: string): string {
  return URL.canParse(resource) ? new URL(resource).host : '';
}

/** The payees that a catalogue is built with; the same list as long as nothing changed. */
export interface ListedPayees {
  current(): readonly PayeeConfig[];
  /** True when it is another list than before. */
  replace(next: readonly PayeeConfig[]): boolean;
}

export function createListedPayees(initial: readonly PayeeConfig[] = []): ListedPayees {
  let current = initial;
  return {
    current: () => current,
    replace(next) {
      if (JSON.stringify(next) === JSON.stringify(current)) return false;
      current = next;
      return true;
    },
  };
}
