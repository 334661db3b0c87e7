import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
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
import type { Chain } from '../../../core/domain/chains.ts';
import { ask } from '../ask.ts';
import type { PaymentOrder } from './orders.ts';
import type { RankedPass } from './passes.ts';
import type { RankedRow } from './row.ts';
import { pointsOf } from './sparklines.ts';
import { decimalValue, figureThatRanks } from './wallets.ts';
import { type Parts, partOf, RANKING_SETTINGS, sinceParts } from './windows.ts';

/**
 * Named facilitators by the organic payments that they relayed, as the newest pass over the window found them. A facilitator is no party of a
 * payment, so no verdict is about it; the wallets it served stand for its counterparties.
 */

export interface FacilitatorQuery {
  readonly by: PaymentOrder;
  readonly chains: readonly Chain[];
  readonly minCounterparties: number;
}

export const FACILITATORS_RESOURCE = 'facilitators';
const MAX_SECONDS = 10;

/** Rows of `ranked_facilitators`, to be put behind FROM. */
function ranked({ gen, window }: RankedPass, chains: readonly Chain[]): Sql {
  const chain = chains.length === 1 ? sql`chain IN ${texts(chains)}` : sql`chain = ''`;
  return sql`(SELECT * FROM ranked_facilitators WHERE gen = ${uint64(gen)} AND span = ${text(window)} AND ${chain})`;
}

export async function readFacilitatorRanking(
  reader: Reader,
  { by, chains, minCounterparties }: FacilitatorQuery,
  { pass, depth }: { readonly pass: RankedPass; readonly depth: number },
): Promise<RankedRow[]> {
  const inOrder = (back: 0 | 1, columns: Sql): Sql => {
    const value = figureThatRanks(by, back);
    const enough = allOf([
      sql`${value} > 0`,
      sql`${trustedText(`parties${back}`)} >= ${uint64(minCounterparties)}`,
    ]);
    return sql`SELECT ${columns} FROM ${ranked(pass, chains)} WHERE ${enough} ORDER BY ${value} DESC, facilitator LIMIT ${uint32(depth)}`;
  };
  const shown = sql`facilitator, ${figureThatRanks(by, 0)} AS value0, ${figureThatRanks(by, 1)} AS value1, organic_count0, organic_usd0,
    organic_proven0, parties0, other_usd, other_count`;
  const { rows } = await ask(reader, FACILITATORS_RESOURCE, {
    name: 'ranking-facilitators',
    maxSeconds: MAX_SECONDS,
    maxRows: depth,
    settings: RANKING_SETTINGS,
    sql: sql`SELECT facilitator, previous, toString(value0), toString(value1), organic_count0 + other_count, toString(organic_usd0 + other_usd),
        organic_count0, toString(organic_usd0), toString(organic_proven0), parties0
      FROM (${inOrder(0, shown)}) AS now
      LEFT JOIN (SELECT facilitator, rowNumberInAllBlocks() + 1 AS previous FROM (${inOrder(1, sql`facilitator`)})) AS before USING (facilitator)
      ORDER BY value0 DESC, facilitator`,
  });
  return rows.map((row, index) => {
    const previousRank = integerField(row[1]);
    return {
      rank: index + 1,
      previousRank: previousRank === 0 ? null : previousRank,
      subject: { facilitator: textField(row[0]) },
      value: decimalValue(row[2]),
      previousValue: pass.window === 'all' ? null : decimalValue(row[3]),
      figures: {
        settlements: integerField(row[4]),
        settledUsdMicros: decimalValue(row[5]),
        organicSettlements: integerField(row[6]),
        organicUsdMicros: decimalValue(row[7]),
        provenUsdMicros: decimalValue(row[8]),
        counterparties: integerField(row[9]),
      },
      verdict: null,
    };
  });
}

export async function readFacilitatorSparklines(
  reader: Reader,
  { by, chains }: FacilitatorQuery,
  {
    pass,
    rows,
    parts,
  }: { readonly pass: RankedPass; readonly rows: readonly RankedRow[]; readonly parts: Parts },
): Promise<ReadonlyMap<string, readonly bigint[]>> {
  const shown = rows.flatMap(({ subject }) => subject.facilitator ?? []);
  const { rows: read } = await ask(reader, FACILITATORS_RESOURCE, {
    name: 'ranking-facilitators-sparklines',
    maxSeconds: MAX_SECONDS,
    maxRows: shown.length,
    settings: RANKING_SETTINGS,
    sql: sql`SELECT facilitator, sumMapIf([toUInt32(${partOf(parts)})], [amount], ${sinceParts(parts)}) AS line, line.1, arrayMap(one -> toString(one), line.2)
      FROM (SELECT facilitator, toDateTime(begins, 'UTC') AS at, amount
        FROM ${ranked(pass, chains)} ARRAY JOIN line_at AS begins, ${amountsOf(by)} AS amount)
      WHERE facilitator IN ${texts(shown)} GROUP BY facilitator`,
  });
  return new Map(read.map((row) => [` ${textField(row[0])}`, pointsOf(row[2], row[3], parts.count)]));
}

/** Of the figure that ranks where it adds up, of the settlements where it does not. */
function amountsOf(by: PaymentOrder): Sql {
  switch (by) {
    case 'settlements':
    case 'counterparties':
      return sql`arrayMap(one -> toDecimal128(one, 6), line_count)`;
    case 'proven_usd':
      return sql`line_proven`;
    default:
      return sql`line_usd`;
  }
}
