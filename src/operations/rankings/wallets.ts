import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { bigintField, integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import {
  allOf,
  type Sql,
  sql,
  text,
  texts,
  trustedText,
  uint32,
  uint64,
} from '../../../clickhouse/engine/sql.ts';
import type { Address } from '../../../core/domain/address.ts';
import { microsFromDecimal } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { type JudgedRole, judge, type Verdict } from '../../../core/domain/data-quality.ts';
import { ask } from '../ask.ts';
import type { PaymentOrder } from './orders.ts';
import {
  type FlowScope,
  flowsOf,
  isSuspect,
  micros,
  pairs,
  RANKING_SETTINGS,
  RING_COUNTS,
  walletFigures,
} from './organic.ts';
import type { RankedRow, RowDetails } from './row.ts';
import { type Parts, partOf, sinceParts } from './windows.ts';

/** Merchants, payers and agents by the organic payments of their wallets. */

export type WalletSubject = 'merchants' | 'payers' | 'agents';

export interface WalletQuery {
  readonly of: WalletSubject;
  readonly by: PaymentOrder;
  readonly capability: string | undefined;
  readonly minCounterparties: number;
  readonly includeFlagged: boolean;
}

const MICROS: Sql = micros(sql`usd0`);
const RESOURCE = 'wallets';
const MAX_SECONDS = 30;

export function roleOf(of: WalletSubject): JudgedRole {
  return of === 'payers' ? 'payer' : 'payee';
}

/** Windows that are read: growth compares two, and its previous rank the two before. */
export function spansNeeded(by: PaymentOrder): number {
  return by === 'growth' ? 3 : 2;
}

export async function readWalletRanking(
  reader: Reader,
  query: WalletQuery,
  { scope, depth }: { readonly scope: FlowScope; readonly depth: number },
): Promise<RankedRow[]> {
  const { rows } = await ask(reader, RESOURCE, {
    name: `ranking-${query.of}`,
    maxSeconds: MAX_SECONDS,
    maxRows: depth,
    settings: RANKING_SETTINGS,
    sql: rankingSql(query, scope, depth),
  });
  return rows.map((row) => decodeWallet(row, scope.spans.length > 1));
}

/** `figure` of span `index`, over the columns of `figuresSql`; 0 for a window that was not read. */
function figureThatRanks(by: PaymentOrder, index: number, spans: number): Sql {
  const column = (figure: string, at: number): Sql =>
    at < spans ? trustedText(`${figure}${at}`) : sql`toDecimal128(0, 6)`;
  switch (by) {
    case 'organic_usd':
      return column('organic_usd', index);
    case 'proven_usd':
      return column('organic_proven', index);
    case 'settlements':
      return sql`toDecimal128(${column('organic_n', index)}, 6)`;
    case 'counterparties':
      return sql`toDecimal128(${column('parties', index)}, 6)`;
    case 'growth':
      return sql`${column('organic_usd', index)} - ${column('organic_usd', index + 1)}`;
  }
}

/** Counterparties are counted where they rank or filter; else only those of the rows that a page shows. */
function figuresSql({ of, by, minCounterparties }: WalletQuery, scope: FlowScope): Sql {
  const countsParties = by === 'counterparties' || minCounterparties > 0;
  return walletFigures({ scope, side: roleOf(of), byChain: of === 'agents', countsParties });
}

/** Wallets of each chain that are suspect by what they were paid: columns chain and wallet. */
export function suspectPayees(scope: FlowScope): Sql {
  const figures = walletFigures({ scope, side: 'payee', byChain: true, countsParties: false });
  return sql`(SELECT chain, wallet FROM (${figures}) WHERE ${isSuspect('payee')})`;
}

function rankingSql(query: WalletQuery, scope: FlowScope, depth: number): Sql {
  const { of, by, minCounterparties, includeFlagged } = query;
  const spans = scope.spans.length;
  const enough = (index: number): Sql =>
    index < spans
      ? sql`(value${trustedText(String(index))} > 0 AND parties${trustedText(String(index))} >= ${uint64(minCounterparties)})`
      : sql`false`;
  const conditions = [...(includeFlagged ? [] : [sql`NOT ${isSuspect(roleOf(of))}`]), ...capabilityOf(query)];
  const place = (index: number): Sql =>
    sql`row_number() OVER (ORDER BY ${enough(index)} DESC, value${trustedText(String(index))} DESC, chain, wallet)`;
  return sql`SELECT chain, lower(hex(wallet)), agent_id, rank, if(was_ranked, previous, 0), toString(value0), toString(value1),
      n0, toString(usd0), organic_n0, toString(organic_usd0), toString(organic_proven0)
    FROM (
      SELECT *, ${place(0)} AS rank, ${spans > 1 ? place(1) : sql`0`} AS previous, ${enough(0)} AS is_ranked, ${enough(1)} AS was_ranked
      FROM (SELECT *, ${figureThatRanks(by, 0, spans)} AS value0, ${figureThatRanks(by, 1, spans)} AS value1
        FROM (${withAgents(query, figuresSql(query, scope))}) WHERE ${allOf(conditions)}))
    WHERE is_ranked ORDER BY rank LIMIT ${uint32(depth)}`;
}

/**
 * Agents with the figures of their wallets. A wallet that several agents of a chain are paid at counts once, for the one that registered
 * first: otherwise one wallet would fill a page.
 */
function withAgents({ of, capability }: WalletQuery, figures: Sql): Sql {
  if (of !== 'agents') return sql`SELECT *, '' AS agent_id FROM (${figures})`;
  const conditions = [
    sql`del = 0`,
    sql`wallet != toFixedString('', 20)`,
    ...(capability === undefined ? [] : [sql`has(capabilities, ${text(capability)})`]),
  ];
  return sql`SELECT * FROM (${figures}) AS paid INNER JOIN (
      SELECT chain AS agent_chain, wallet AS agent_wallet, toString(min(agents.agent_id)) AS agent_id
      FROM (SELECT chain, agent_id, wallet, capabilities, del FROM agents FINAL) AS agents
      WHERE ${allOf(conditions)} GROUP BY agent_chain, agent_wallet) AS named
    ON paid.chain = named.agent_chain AND paid.wallet = named.agent_wallet`;
}

/** Merchants of a capability: the payees of listed resources that offer it, where nothing speaks against the listing, and agents. */
function capabilityOf({ of, capability }: WalletQuery): Sql[] {
  if (of !== 'merchants' || capability === undefined) return [];
  const offers = sql`has(capabilities, ${text(capability)})`;
  return [
    sql`wallet IN (
      SELECT toFixedString(unhex(substring(pay_to, 3)), 20) FROM (SELECT pay_to, capabilities, contested, is_published, settlement_count, del FROM endpoint_list FINAL)
        WHERE del = 0 AND ${offers} AND match(pay_to, '^0x[0-9a-f]{40}$') AND (NOT contested OR is_published OR settlement_count > 0)
      UNION DISTINCT
      SELECT wallet FROM (SELECT wallet, capabilities, del FROM agents FINAL) WHERE del = 0 AND ${offers})`,
  ];
}

function decodeWallet(row: readonly unknown[], hasBefore: boolean): RankedRow {
  const chain = textField(row[0]) as Chain | ''; // written by ingest from `Chain` values only
  const agentId = textField(row[2]);
  const previousRank = integerField(row[4]);
  const rank = integerField(row[3]);
  return {
    rank,
    previousRank: previousRank === 0 ? null : previousRank,
    subject: {
      wallet: `0x${textField(row[1])}` as Address, // 40 hex digits of a FixedString(20)
      ...(chain === '' ? {} : { chain }),
      ...(agentId === '' ? {} : { agentId }),
    },
    value: decimalValue(row[5]),
    previousValue: hasBefore ? decimalValue(row[6]) : null,
    figures: {
      settlements: integerField(row[7]),
      settledUsdMicros: decimalValue(row[8]),
      organicSettlements: integerField(row[9]),
      organicUsdMicros: decimalValue(row[10]),
      provenUsdMicros: decimalValue(row[11]),
      counterparties: null,
    },
    verdict: null,
  };
}

function decimalValue(field: unknown): bigint {
  return microsFromDecimal(textField(field));
}

/** What a wallet is judged by, from all of its rows of `pairs`. */
export const JUDGED_FIELDS: Sql = sql`sum(n0), toString(sum(${MICROS})), toString(sumIf(${MICROS}, is_self)), toString(maxIf(${MICROS}, NOT is_self)),
  toString(sumIf(${MICROS} * ${MICROS}, NOT is_self)), toString(sumIf(${MICROS}, is_mutual)), any(rings)`;

export function verdictOf(row: readonly unknown[], role: JudgedRole): Verdict {
  const settlements = integerField(row[0]);
  return judge({
    role,
    observed: settlements > 0,
    settlements,
    usdMicros: bigintField(row[1]),
    selfUsdMicros: bigintField(row[2]),
    largestUsdMicros: bigintField(row[3]),
    squaredUsdMicros: bigintField(row[4]),
    reciprocalUsdMicros: bigintField(row[5]),
    rings: integerField(row[6]),
  }).verdict;
}

/**
 * What a page shows of its rows besides what ranks, by `chain wallet`, from every counterparty of these wallets: the verdict, the number of
 * counterparties, and what each part of the window was worth: of the figure that ranks where it adds up, of the settlements where it does not.
 */
export async function readWalletDetails(
  reader: Reader,
  query: WalletQuery,
  {
    scope,
    rows,
    parts,
  }: { readonly scope: FlowScope; readonly rows: readonly RankedRow[]; readonly parts: Parts },
): Promise<ReadonlyMap<string, RowDetails>> {
  const { of, by } = query;
  const role = roleOf(of);
  const wallets = [...new Set(rows.flatMap(({ subject }) => subject.wallet ?? []))];
  const among = sql`(SELECT toFixedString(unhex(substring(arrayJoin(${texts(wallets)}), 3)), 20))`;
  const dollars = by === 'proven_usd' ? sql`proven` : sql`usd`;
  const amount = by === 'settlements' || by === 'counterparties' ? sql`toDecimal128(n, 6)` : dollars;
  const dealings = pairs({
    scope,
    side: role,
    byChain: of === 'agents',
    of: flowsOf(scope, among),
    extra: {
      name: 'points',
      sum: (when) =>
        sql`sumMapIf([toUInt32(${partOf(parts)})], [${amount}], ${when} AND ${sinceParts(parts)})`,
    },
  });
  const { rows: read } = await ask(reader, RESOURCE, {
    name: `ranking-${of}-details`,
    maxSeconds: MAX_SECONDS,
    maxRows: wallets.length * scope.chains.length,
    settings: RANKING_SETTINGS,
    sql: sql`SELECT chain, lower(hex(wallet)), sumMapIf(points.1, points.2, is_organic) AS line, line.1, arrayMap(one -> toString(one), line.2),
        countIf(is_organic AND n0 > 0), ${JUDGED_FIELDS}
      FROM (${dealings}) AS dealings LEFT JOIN ${RING_COUNTS} AS ringed_wallets ON wallet = ringed
      WHERE wallet IN ${among} GROUP BY chain, wallet`,
  });
  return new Map(
    read.map((row) => [
      `${textField(row[0])} 0x${textField(row[1])}`,
      {
        sparkline: pointsOf(row[3], row[4], parts.count),
        counterparties: integerField(row[5]),
        verdict: verdictOf(row.slice(6), role),
      },
    ]),
  );
}

export function pointsOf(places: unknown, amounts: unknown, count: number): bigint[] {
  if (!Array.isArray(places) || !Array.isArray(amounts)) throw new TypeError('a sparkline is no list');
  const points = Array<bigint>(count).fill(0n);
  for (const [index, place] of places.entries()) {
    const at = integerField(place);
    if (at < points.length) points[at] = decimalValue(amounts[index]);
  }
  return points;
}
