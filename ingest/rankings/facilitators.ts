import { IS_COUNTED } from '../../clickhouse/engine/counted-rows.ts';
import {
  commaList,
  dateTime,
  type Sql,
  sql,
  text,
  texts,
  trustedText,
  uint32,
  uint64,
} from '../../clickhouse/engine/sql.ts';
import type { Window } from '../../core/domain/window.ts';
import { during, type FlowScope } from './flows.ts';

/**
 * What each named facilitator relayed in the windows of a pass, from the settlements themselves, because no rollup keeps pairs by facilitator.
 * Organic means the same as for wallets: the pairs that are not come from the figures of payees that the pass has just staged.
 */

/** Columns exist for as many windows, whatever the scope has: growth needs the dollars of a third. */
const FIGURES = [
  { column: 'organic_usd', windows: 3, of: (when: Sql) => sql`sumIf(usd, ${when})` },
  { column: 'organic_proven', windows: 2, of: (when: Sql) => sql`sumIf(proven, ${when})` },
  { column: 'organic_count', windows: 2, of: (when: Sql) => sql`countIf(${when})` },
  { column: 'parties', windows: 2, of: (when: Sql) => sql`uniqExactArrayIf([payer, payee], ${when})` },
] as const;

const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3_600;

/** `staged`: the generation that has the figures of every payee. */
export function facilitatorsInto(
  gen: bigint,
  {
    window,
    scope,
    staged,
    atSeconds,
  }: {
    readonly window: Window;
    readonly scope: FlowScope;
    readonly staged: bigint;
    readonly atSeconds: number;
  },
): Sql {
  const { chains, spans } = scope;
  const [now] = spans;
  if (now === undefined) throw new TypeError('a ranking without a window');
  const columns = FIGURES.flatMap(({ column, windows, of }) =>
    Array.from({ length: windows }, (_, back) => {
      const span = spans[back];
      const when = span === undefined ? sql`false` : sql`is_organic AND ${during(sql`at`, span)}`;
      return sql`${of(when)} AS ${trustedText(`${column}${back}`)}`;
    }),
  );
  const inWindow = during(sql`at`, now);
  const line = sql`sumMapIf([${lineAt(window, atSeconds)}], [toUInt64(1)], [usd], [proven], is_organic AND ${inWindow}) AS line`;
  const excluded = sql`(SELECT chain, wallet, other FROM ranked_wallets ARRAY JOIN excluded AS other
    WHERE gen = ${uint64(staged)} AND role = 'payee')`;
  // With one chain its figures are also the figures of all chains together (ingest/rankings/figures.ts).
  const ofChains = chains.length === 1 ? sql`[toString(chain)]` : sql`[toString(chain), '']`;
  const from = dateTime(spans.at(-1)?.from ?? 0);
  return sql`INSERT INTO ranked_facilitators (span, chain, facilitator, ${commaList(
    FIGURES.flatMap(({ column, windows }) =>
      Array.from({ length: windows }, (_, back) => trustedText(`${column}${back}`)),
    ),
  )}, other_usd, other_count, line_at, line_count, line_usd, line_proven, gen)
    SELECT ${text(window)}, of_chain, facilitator, ${commaList(columns)}, sumIf(usd, NOT is_organic AND ${inWindow}), countIf(NOT is_organic AND ${inWindow}),
      (${line}).1, line.2, line.3, line.4, ${uint64(gen)}
    FROM (
      SELECT of_chain, facilitator, payer, payee, at, usd, proven, (of_chain, payee, payer) NOT IN ${excluded} AS is_organic
      FROM (
        SELECT chain, facilitator, payer, payee, block_time AS at, toDecimal128(amount_usd, 6) AS usd,
          if(method = 'facilitator_relay', usd, toDecimal128(0, 6)) AS proven
        FROM (SELECT chain, facilitator, payer, payee, block_time, amount_usd, method, kind, del FROM settlements FINAL
          WHERE block_time >= ${from} AND chain IN ${texts(chains)})
        WHERE ${IS_COUNTED} AND facilitator != '')
      ARRAY JOIN ${ofChains} AS of_chain)
    GROUP BY of_chain, facilitator`;
}

/** When the part of the sparkline begins that column `at` lies in: hours of the day that ends now, else UTC days. */
function lineAt(window: Window, atSeconds: number): Sql {
  const at = sql`toUInt32(toUnixTimestamp(at))`;
  if (window !== '24h') return sql`toUInt32(intDiv(${at}, ${uint32(DAY_SECONDS)}) * ${uint32(DAY_SECONDS)})`;
  const since = uint32(atSeconds - DAY_SECONDS);
  return sql`toUInt32(${since} + intDiv(${at} - ${since}, ${uint32(HOUR_SECONDS)}) * ${uint32(HOUR_SECONDS)})`;
}
