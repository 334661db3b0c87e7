import { accountBytes, accountText } from '../../../clickhouse/engine/account.ts';
import { IS_COUNTED } from '../../../clickhouse/engine/counted-rows.ts';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { addressField, bigintField, integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import {
  allOf,
  dateTime,
  type Sql,
  sql,
  texts,
  uint32,
  uint64,
  unionAll,
} from '../../../clickhouse/engine/sql.ts';
import { closedSlices, openRows, type RollupCoverage } from '../../../clickhouse/tables/coverage.ts';
import { decodeProposals, OPEN_PROPOSALS, type Proposal } from '../../../clickhouse/tables/proposals.ts';
import { rollupBasis, sliceStart } from '../../../clickhouse/tables/rollups.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Address } from '../../../core/domain/account.ts';
import { microsFromDecimal } from '../../../core/domain/amount.ts';
import { addressKey, type Chain } from '../../../core/domain/chains.ts';
import type { Resource } from '../../../core/domain/resources.ts';
import { ask, cached, TWO_THREADS } from '../ask.ts';
import type { Rollups } from '../index-state/rollups.ts';

/**
 * The relayers of every served chain, busiest first. The ranking is the same for every caller and costs a pass over the
 * rollups, so one is made at most every ten seconds and all pages are cut from it. Figures are exact as of that moment.
 */

export interface Relayer {
  readonly chain: Chain;
  readonly address: Address;
  /** Id and name of the facilitator that the catalogue knows behind the address; null for none. */
  readonly facilitator: string | null;
  /** Where the catalogue has that entry from; null for none. */
  readonly facilitatorSource: string | null;
  readonly settlementCount: number;
  readonly settledUsdMicros: bigint;
  /** Unix seconds. */
  readonly firstSeen: number;
  readonly lastSeen: number;
  /** Null until the chain was asked. */
  readonly account: RelayerAccount | null;
  /** Null for a relayer that is not proposed as a facilitator's. */
  readonly proposal: Proposal | null;
}

interface RelayerAccount {
  readonly nonce: number;
  /** In the smallest unit of the chain's own coin. */
  readonly gasBalance: bigint;
  /** Unix seconds. */
  readonly enrichedAt: number;
}

interface RelayerRanking {
  /** Unix milliseconds. */
  readonly rankedAtMs: number;
  readonly coverage: RollupCoverage;
  readonly totals: RelayerTotals | null;
  /** Busiest first; then by chain and address. */
  readonly relayers: readonly Relayer[];
  /** Distinct parties, by relayer, as far as a page asked for them. */
  readonly parties: Map<string, DistinctParties>;
}

export interface DistinctParties {
  readonly payers: number;
  readonly payees: number;
}

export interface Relayers {
  ranking(): Promise<RelayerRanking>;
}

const RELAYERS_RESOURCE = 'facilitators';
const RANKING_MAX_AGE_MS = 10_000;
/** Relayers whose distinct parties are read with a new ranking: the busiest of those that pages of the old one showed. */
const PARTIES_RENEWED_MAX = 200;
/** Ranked per chain, in addition to the named, proposed and enriched ones: any wallet can be a relayer, and most send one payment. */
const RANKED_PER_CHAIN = 10_100;
/** Far above what catalogues and enrichment hold. */
const KNOWN_MAX = 50_000;
const RANKING_MAX_SECONDS = 30;
const DISTINCT_MAX_SECONDS = 20;

export function createRelayers(deps: {
  readonly reader: Reader;
  readonly clock: Clock;
  readonly rollups: Rollups;
  readonly chains: readonly Chain[];
}): Relayers {
  return {
    ranking: cached({
      clock: deps.clock,
      maxAgeMs: RANKING_MAX_AGE_MS,
      staleMs: RANKING_MAX_AGE_MS,
      load: async (old) => {
        const ranking = await readRanking(deps);
        // Callers get the old ranking until the distinct parties that its pages showed are read for the new one, too.
        const shown = ranking.relayers.filter((relayer) => old?.parties.has(addressKey(relayer)));
        await distinctParties(deps.reader, ranking, shown.slice(0, PARTIES_RENEWED_MAX));
        return ranking;
      },
    }),
  };
}

async function readRanking(deps: Parameters<typeof createRelayers>[0]): Promise<RelayerRanking> {
  const { reader, clock, rollups, chains } = deps;
  const rankedAtMs = clock.nowMs();
  const coverage = await rollups.coverage();
  const totals = await readRelayerTotals(reader, RELAYERS_RESOURCE, coverage);
  const proposed = decodeProposals((await ask(reader, RELAYERS_RESOURCE, OPEN_PROPOSALS)).rows);
  const proposals = new Map(proposed.map((proposal) => [addressKey(proposal), proposal]));
  const { rows } = await ask(reader, RELAYERS_RESOURCE, {
    name: 'relayers-ranking',
    maxSeconds: RANKING_MAX_SECONDS,
    maxRows: chains.length * RANKED_PER_CHAIN + KNOWN_MAX,
    settings: { ...TWO_THREADS, do_not_merge_across_partitions_select_final: 1 },
    sql: rankingSql(chains, { coverage, totals }),
  });
  const relayers = rows
    .map(decodeRelayer)
    .map((relayer) => ({ ...relayer, proposal: proposals.get(addressKey(relayer)) ?? null }));
  return { rankedAtMs, coverage, totals, relayers, parties: new Map() };
}

function rankingSql(chains: readonly Chain[], past: Pick<RelayerRanking, 'coverage' | 'totals'>): Sql {
  const served = sql`chain IN ${texts(chains)}`;
  const parts = unionAll([
    ...closedRelayers(
      sql`chain, relayer, settlement_count AS counted, settled_usd AS usd_part, first_time, last_time`,
      [served],
      past,
    ),
    sql`SELECT chain, relayer, toUInt64(1), toDecimal128(amount_usd, 6), block_time, block_time
      FROM (SELECT chain, relayer, amount_usd, block_time, method, kind, del FROM settlements FINAL
        WHERE ${allOf([openRows(past.coverage), served])}) WHERE ${IS_COUNTED}`,
  ]);
  return sql`SELECT totals.chain, ${accountText('address')}, facilitator, settlements, toString(usd),
      toUnixTimestamp(first_seen), toUnixTimestamp(last_seen), nonce, toString(gas_balance), toUnixTimestamp(enriched_at), source
    FROM (
      SELECT chain, relayer AS address, sum(counted) AS settlements, sum(usd_part) AS usd, min(first_time) AS first_seen,
        max(last_time) AS last_seen, row_number() OVER (PARTITION BY chain ORDER BY settlements DESC, address) AS place
      FROM (${parts})
      GROUP BY chain, relayer) AS totals
    LEFT JOIN (SELECT chain, address, facilitator, source FROM facilitator_relayers FINAL WHERE del = 0) AS named USING (chain, address)
    LEFT JOIN (SELECT chain, address, nonce, gas_balance, enriched_at FROM relayer_accounts FINAL) AS accounts USING (chain, address)
    WHERE place <= ${uint32(RANKED_PER_CHAIN)} OR facilitator != '' OR enriched_at > toDateTime(0)
      OR (chain, address) IN (SELECT chain, address FROM proposed_relayers WHERE gen IN (SELECT max(gen) FROM proposal_passes))
    ORDER BY settlements DESC, totals.chain, address`;
}

function decodeRelayer(row: readonly unknown[]): Omit<Relayer, 'proposal'> {
  const facilitator = textField(row[2]);
  const enrichedAt = integerField(row[9]);
  return {
    chain: textField(row[0]) as Chain, // written by ingest from `Chain` values only
    address: addressField(row[1]),
    facilitator: facilitator === '' ? null : facilitator,
    facilitatorSource: facilitator === '' ? null : textField(row[10]),
    settlementCount: integerField(row[3]),
    settledUsdMicros: microsFromDecimal(textField(row[4])),
    firstSeen: integerField(row[5]),
    lastSeen: integerField(row[6]),
    account:
      enrichedAt === 0 ? null : { nonce: integerField(row[7]), gasBalance: bigintField(row[8]), enrichedAt },
  };
}

/**
 * How many distinct parties each relayer of a page served. Only for a page, because merging these states is most of the work;
 * kept with the ranking, because the same few pages are asked for.
 */
export async function distinctParties(
  reader: Reader,
  ranking: RelayerRanking,
  page: readonly Relayer[],
): Promise<readonly DistinctParties[]> {
  const missing = page.filter((relayer) => !ranking.parties.has(addressKey(relayer)));
  if (missing.length > 0) {
    const { rows } = await ask(reader, RELAYERS_RESOURCE, {
      name: 'relayers-distinct',
      maxSeconds: DISTINCT_MAX_SECONDS,
      maxRows: missing.length,
      settings: { ...TWO_THREADS, do_not_merge_across_partitions_select_final: 1 },
      sql: distinctSql(missing, ranking),
    });
    for (const row of rows) {
      const key = `${textField(row[0])} ${textField(row[1])}`;
      ranking.parties.set(key, { payers: integerField(row[2]), payees: integerField(row[3]) });
    }
  }
  // A relayer that lost all it had since the ranking has no states any more.
  return page.map((relayer) => ranking.parties.get(addressKey(relayer)) ?? { payers: 0, payees: 0 });
}

/** The relayer of a settlement is not in its sort key, so it is chosen after versions are merged. */
function distinctSql(relayers: readonly Relayer[], past: RelayerRanking): Sql {
  const wanted = sql`(chain, relayer) IN (SELECT pair.1, ${accountBytes(sql`pair.2`)}
    FROM (SELECT arrayJoin(arrayZip(${texts(relayers.map(({ chain }) => chain))}, ${texts(relayers.map(({ address }) => address))})) AS pair))`;
  const parts = unionAll([
    ...closedRelayers(sql`chain, relayer, payers, payees`, [wanted], past),
    sql`SELECT chain, relayer, uniqCombined64State(14)(payer), uniqCombined64State(14)(payee)
      FROM (SELECT chain, relayer, payer, payee, method, kind, del FROM settlements FINAL WHERE ${openRows(past.coverage)})
      WHERE ${IS_COUNTED} AND ${wanted} GROUP BY chain, relayer`,
  ]);
  return sql`SELECT chain, ${accountText('relayer')}, uniqCombined64Merge(14)(payers), uniqCombined64Merge(14)(payees)
    FROM (${parts}) GROUP BY chain, relayer`;
}

/**
 * What relayers did in closed slices: one merged row of each up to a moment, where the worker has merged them and nothing before
 * that moment has changed since; rows of every slice otherwise.
 */
export interface RelayerTotals {
  readonly gen: bigint;
  /** Unix seconds: all slices that begin before it are in the totals. */
  readonly until: number;
}

const MAX_SECONDS = 5;

/**
 * The published totals, null when there are none that hold. Asked after `coverage` was read: totals that hold now and end where
 * it knows of nothing open are exact for every slice before their end.
 */
export async function readRelayerTotals(
  reader: Reader,
  resource: Resource,
  coverage: RollupCoverage,
): Promise<RelayerTotals | null> {
  const { rows } = await ask(reader, resource, {
    name: 'relayer-totals',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`WITH (SELECT argMax((gen, until, basis), gen) FROM relayer_total_passes) AS newest, newest.2 AS covered
      SELECT toString(newest.1), toUnixTimestamp(covered), newest.3 = ${rollupBasis(sql`covered`)}`,
  });
  const [gen, until, holds] = rows[0] ?? [];
  const totals = { gen: bigintField(gen), until: integerField(until) };
  const [firstOpen] = coverage.open;
  if (totals.gen === 0n || integerField(holds) !== 1 || firstOpen === undefined) return null;
  return totals.until <= firstOpen.from ? totals : null;
}

/** The parts whose union is what the closed slices hold of relayers. `conditions`: on the columns chain and relayer. */
export function closedRelayers(
  columns: Sql,
  conditions: readonly Sql[],
  { coverage, totals }: { readonly coverage: RollupCoverage; readonly totals: RelayerTotals | null },
): Sql[] {
  // A key whose settlements all vanished stays in the rollup with a count of zero.
  const slices = (when: readonly Sql[]): Sql => sql`SELECT ${columns} FROM (SELECT * FROM relayer_day FINAL
    WHERE ${allOf([...conditions, closedSlices(coverage), ...when])}) WHERE settlement_count > 0`;
  if (totals === null) return [slices([])];
  const { gen, until } = totals;
  const merged = sql`SELECT ${columns} FROM relayer_totals WHERE ${allOf([sql`gen = ${uint64(gen)}`, ...conditions])}`;
  const isAllOpenAfter = coverage.open.length === 1 && coverage.open[0]?.from === until;
  return isAllOpenAfter ? [merged] : [merged, slices([sql`${sliceStart} >= ${dateTime(until)}`])];
}
