import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, type Sql, sql, text, texts, uint32, uint64 } from '../../../clickhouse/engine/sql.ts';
import { microsFromDecimal } from '../../../core/domain/amount.ts';
import { CAPABILITIES } from '../../../core/domain/capability.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { ask } from '../ask.ts';
import { type RankedPass, rankedWallets } from './passes.ts';
import type { RankedRow } from './row.ts';
import { verdictField } from './wallets.ts';
import { RANKING_SETTINGS } from './windows.ts';

/**
 * Listed resources and capabilities by what was observed of their own offers in the last 30 days, which ingest counts without
 * self-payments. The directory keeps no history, so nothing is known of the window before.
 */

export interface DirectoryQuery {
  readonly by: 'settlements' | 'counterparties';
  /** Undefined: every network. */
  readonly chain: Chain | undefined;
  readonly capability: string | undefined;
  readonly minCounterparties: number;
  readonly includeFlagged: boolean;
}

interface Read {
  /** That judged the payees; null before the first one: then none is known to be suspect. */
  readonly pass: RankedPass | null;
  readonly chains: readonly Chain[];
  readonly depth: number;
}

const MAX_SECONDS = 30;

function listed({ chain, capability }: Pick<DirectoryQuery, 'chain' | 'capability'>): Sql {
  return allOf([
    sql`del = 0`,
    sql`settlement_count > 0`,
    ...(chain === undefined ? [] : [sql`has(chains, ${text(chain)})`]),
    ...(capability === undefined ? [] : [sql`has(capabilities, ${text(capability)})`]),
  ]);
}

export async function readEndpointRanking(
  reader: Reader,
  query: DirectoryQuery,
  { pass, chains, depth }: Read,
): Promise<RankedRow[]> {
  const { by, minCounterparties, includeFlagged } = query;
  const value = by === 'settlements' ? sql`settlement_count` : sql`unique_payers`;
  const conditions = [
    sql`unique_payers >= ${uint64(minCounterparties)}`,
    ...(includeFlagged ? [] : [sql`verdict != 'suspect'`]),
  ];
  const verdicts =
    pass === null
      ? sql`SELECT '' AS payee, '' AS verdict`
      : sql`SELECT concat('0x', lower(hex(wallet))) AS payee, toString(verdict) AS verdict
        FROM ${rankedWallets(pass, { role: 'payee', chains, byChain: false })}`;
  const { rows } = await ask(reader, 'endpoints', {
    name: 'ranking-endpoints',
    maxSeconds: MAX_SECONDS,
    maxRows: depth,
    settings: RANKING_SETTINGS,
    sql: sql`SELECT resource, method, pay_to, service_name, settlement_count, unique_payers, toString(settled_usd), verdict
      FROM (SELECT resource, method, pay_to, service_name, settlement_count, unique_payers, settled_usd
        FROM endpoint_list FINAL WHERE ${listed(query)}) AS offers
      LEFT JOIN (${verdicts}) AS payees ON pay_to = payee
      WHERE ${allOf(conditions)} ORDER BY ${value} DESC, resource, method LIMIT ${uint32(depth)}`,
  });
  return rows.map((row, index) => {
    const [settlements, counterparties] = [integerField(row[4]), integerField(row[5])];
    return {
      rank: index + 1,
      subject: {
        resource: textField(row[0]),
        method: textField(row[1]),
        payTo: textField(row[2]),
        ...(textField(row[3]) === '' ? {} : { name: textField(row[3]) }),
      },
      ...unknownBefore(by === 'settlements' ? settlements : counterparties),
      figures: {
        ...NO_ORGANIC,
        counterparties,
        settlements,
        settledUsdMicros: microsFromDecimal(textField(row[6])),
      },
      verdict: verdictField(row[7]),
    };
  });
}

/**
 * Resources of one origin on the same terms show the same payments, so these count once for each capability. `counterparties` are the
 * addresses that were paid for it.
 */
export async function readCapabilityRanking(
  reader: Reader,
  query: DirectoryQuery,
  depth: number,
): Promise<RankedRow[]> {
  const { by, minCounterparties } = query;
  const value = by === 'settlements' ? sql`paid` : sql`providers`;
  const { rows } = await ask(reader, 'capabilities', {
    name: 'ranking-capabilities',
    maxSeconds: MAX_SECONDS,
    maxRows: depth,
    settings: RANKING_SETTINGS,
    sql: sql`SELECT slug, sum(settlements) AS paid, uniqExact(pay_to) AS providers, toString(sum(usd))
      FROM (SELECT arrayJoin(capabilities) AS slug, pay_to, max(settlement_count) AS settlements, max(settled_usd) AS usd
        FROM (SELECT * FROM endpoint_list FINAL WHERE ${listed(query)})
        GROUP BY slug, pay_to, network, price_usd, domain(resource))
      WHERE slug IN ${texts(CAPABILITIES.map(({ slug }) => slug))}
      GROUP BY slug HAVING providers >= ${uint64(minCounterparties)} ORDER BY ${value} DESC, slug LIMIT ${uint32(depth)}`,
  });
  return rows.map((row, index) => {
    const [slug, settlements, counterparties] = [
      textField(row[0]),
      integerField(row[1]),
      integerField(row[2]),
    ];
    const name = CAPABILITIES.find((capability) => capability.slug === slug)?.name;
    return {
      rank: index + 1,
      subject: { capability: slug, ...(name === undefined ? {} : { name }) },
      ...unknownBefore(by === 'settlements' ? settlements : counterparties),
      figures: {
        ...NO_ORGANIC,
        counterparties,
        settlements,
        settledUsdMicros: microsFromDecimal(textField(row[3])),
      },
      verdict: null,
    };
  });
}

const NO_ORGANIC = { organicUsdMicros: null, provenUsdMicros: null, organicSettlements: null } as const;

function unknownBefore(value: number) {
  return { previousRank: null, value: BigInt(value) * 1_000_000n, previousValue: null };
}
