import { dateTime, type Sql, sql, texts, uint32 } from '../../clickhouse/engine/sql.ts';
import type { Chain } from '../../core/domain/chain.ts';
import { EVIDENCE_LADDER, EVIDENCE_METHODS } from '../../core/domain/evidence.ts';
import { IS_PUBLISHED, IS_RANGE, ORIGIN } from './offer-terms.ts';

/**
 * Which payments count as observed, and which offer each belongs to. A payment fits an offer by payee, chain, asset and amount (the
 * amount itself, or any up to a ceiling), and counts from the time on at which the offer asked that amount. Anybody can list
 * somebody else's payee at his price, so a payment that fits offers of several origins belongs to the one that was listed first;
 * listed at the same time, to the one whose own domain publishes it, else to none. Within an origin an exact amount goes before a
 * ceiling, and a low ceiling before a high one.
 */

export interface Observed {
  readonly chains: readonly Chain[];
  /** Unix seconds. */
  readonly since: number;
}

/** Ceilings that are kept of one payee and asset: each payment to it is held against all of them. Those listed first stay. */
const CEILINGS_MAX = 64;

/** Grades that are evidence of an x402 payment. */
const OBSERVED_METHODS = EVIDENCE_METHODS.filter((method) =>
  ['proven', 'probable'].includes(EVIDENCE_LADDER[method].tier),
);

const LIVE = sql`endpoint_offers FINAL WHERE del = 0`;

/** Payments to listed addresses: pay_to, chain, asset, amount, payer, usd, at. Read by address, so only what they were paid is. */
export function observedPayments({ chains, since }: Observed): Sql {
  return sql`SELECT wallet AS pay_to, chain, concat('0x', lower(hex(asset))) AS asset, amount, counterparty AS payer, amount_usd AS usd,
      block_time AS at
    FROM (SELECT wallet, chain, wallet_log.asset AS asset, amount, counterparty, amount_usd, block_time, method, del FROM wallet_log FINAL
      WHERE wallet IN (SELECT pay_to FROM ${LIVE} AND chain IN ${texts(chains)}) AND role = 'payee' AND block_time >= ${dateTime(since)})
    WHERE del = 0 AND method IN ${texts(OBSERVED_METHODS)} AND concat('0x', lower(hex(payer))) != pay_to
      AND (pay_to, chain) IN (SELECT pay_to, chain FROM ${LIVE})`;
}

/** By payee, chain, asset and terms: which origin the payments belong to ('' for none), its rank, and when its offers began. */
function ownedTerms(chains: readonly Chain[]): Sql {
  const claims = sql`SELECT pay_to, chain, asset, ${IS_RANGE} AS is_range, assumeNotNull(amount) AS terms, ${ORIGIN} AS origin,
      min(toUInt64(toUnixTimestamp(terms_since)) * 2 + NOT ${IS_PUBLISHED}) AS rank, groupUniqArray(terms_since) AS starts
    FROM ${LIVE} AND chain IN ${texts(chains)} AND amount > 0
    GROUP BY pay_to, chain, asset, is_range, terms, origin`;
  const ranked = sql`SELECT pay_to, chain, asset, is_range, terms, arraySort(groupArray((rank, origin, starts))) AS claims
    FROM (${claims}) GROUP BY pay_to, chain, asset, is_range, terms`;
  return sql`SELECT pay_to, chain, asset, is_range, terms, claims[1].1 AS first,
      if(length(claims) > 1 AND claims[2].1 = first, '', claims[1].2) AS owner, claims[1].3 AS starts FROM (${ranked})`;
}

/** Ceilings of a payee and asset, those of the origin that was listed first before all others, low ones before high ones. */
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
export function paymentsOfOffers(observed: Observed): Sql {
  const { chains, since } = observed;
  const fitting = sql`SELECT p.pay_to AS pay_to, p.chain AS chain, p.asset AS asset, p.amount AS amount, payer, usd, at, e.owner AS exact_owner, e.first AS exact_first, e.starts AS exact_starts, exact_first > 0 AS has_exact,
      arrayFilter(one -> one.2 >= p.amount, r.ceilings) AS above, above[1] AS ceiling, length(above) > 0 AS has_ceiling,
      arrayExists(one -> one.1 = ceiling.1 AND one.3 != ceiling.3, above) AS is_ceiling_tied
    FROM (${observedPayments(observed)}) AS p
    LEFT JOIN (SELECT * FROM (${ownedTerms(chains)}) WHERE NOT is_range) AS e
      ON p.pay_to = e.pay_to AND p.chain = e.chain AND p.asset = e.asset AND p.amount = e.terms
    LEFT JOIN (${ceilings(chains)}) AS r ON p.pay_to = r.pay_to AND p.chain = r.chain AND p.asset = r.asset
    WHERE has_exact OR has_ceiling`;
  const isExact = sql`has_exact AND (NOT has_ceiling OR exact_owner = ceiling.3 OR exact_first < ceiling.1)`;
  const isCeiling = sql`NOT is_exact AND has_ceiling AND NOT is_ceiling_tied AND (NOT has_exact OR ceiling.1 < exact_first)`;
  return sql`SELECT pay_to, chain, asset, toUInt8(NOT is_exact) AS is_range, if(is_exact, amount, ceiling.2) AS terms,
      if(is_exact, exact_owner, ceiling.3) AS origin, payer, usd, at,
      arrayDistinct(arrayMap(start -> greatest(start, ${dateTime(since)}),
        arrayFilter(start -> start <= at, if(is_exact, exact_starts, ceiling.4)))) AS starts
    FROM (SELECT *, ${isExact} AS is_exact, ${isCeiling} AS is_ceiling FROM (${fitting}))
    WHERE (is_exact OR is_ceiling) AND origin != ''`;
}
