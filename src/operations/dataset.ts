import { IS_COUNTED } from '../../clickhouse/engine/counted-rows.ts';
import type { Reader } from '../../clickhouse/engine/engine.ts';
import { bigintField, integerField, textField } from '../../clickhouse/engine/row-reader.ts';
import { type Sql, sql, texts, trustedText, unionAll } from '../../clickhouse/engine/sql.ts';
import { NODE_VIEWS, PUBLIC_TABLE_STORES } from '../../clickhouse/guest/public-views.ts';
import { openRows } from '../../clickhouse/tables/coverage.ts';
import { openProposalsText } from '../../clickhouse/tables/proposals.ts';
import type { Clock } from '../../core/clock.ts';
import type { Chain } from '../../core/domain/chains.ts';
import { PUBLIC_TABLE_NAMES, type PublicTableName } from '../../core/domain/public-tables.ts';
import { versionTimeMs } from '../../core/domain/settlement.ts';
import { ask, cached, TWO_THREADS } from './ask.ts';
import { closedRelayers, readRelayerTotals } from './facilitators/read.ts';
import type { Freshness } from './index-state/freshness.ts';
import type { Rollups } from './index-state/rollups.ts';

/** What a table holds of the chains that were asked. */
export interface TableFacts {
  readonly rowCount: number;
  /** Unix seconds; null where nothing of them was ever written. */
  readonly lastWrittenAt: number | null;
}

/** Facts of the tables behind the lists, for empty pages and as a hint where the feed starts. */
export interface DatasetFacts {
  /**
   * Live settlements of these chains, channel deposits left out, exact as of at most eleven seconds ago. `lastWrittenAt` is that of
   * the chain's newest write, which may have been one of registry events: no index tells the newest version of a chain.
   */
  settlements(chains: readonly Chain[]): Promise<TableFacts>;
  /** Agents of these chains, exact as of at most ten seconds ago. */
  agents(chains: readonly Chain[]): Promise<TableFacts>;
  /** Attestations of these chains, exact as of at most ten seconds ago. */
  attestations(chains: readonly Chain[]): Promise<TableFacts>;
  /** Listed resources that are paid on a chain; undefined: all of them, those on networks that are not indexed too. */
  endpoints(chain: Chain | undefined): Promise<TableFacts>;
  /** Newest block time of any row, Unix seconds; null for an empty table. Up to two seconds old. */
  newestTime(): Promise<number | null>;
}

interface DatasetDeps {
  readonly reader: Reader;
  readonly clock: Clock;
  readonly rollups: Rollups;
  readonly freshness: Freshness;
}

type FactsByChain = ReadonlyMap<string, TableFacts>;

const RESOURCE = 'settlements';
/** Rows of open slices are counted one by one: all of them while the rollups are new (0.2 s at 10 M rows). */
const ROW_COUNT_MAX_AGE_MS = 5_000;
const ROW_COUNT_STALE_MS = 5_000;
const ROW_COUNT_MAX_SECONDS = 20;
const NEWEST_MAX_AGE_MS = 2_000;
const NEWEST_MAX_SECONDS = 5;
/** Far above the number of EVM chains. */
const CHAINS_MAX = 10_000;
/** Stands for all chains; no chain is named so. */
const EVERY_CHAIN = '';

export function createDatasetFacts(deps: DatasetDeps): DatasetFacts {
  const { reader, clock, freshness } = deps;
  const kept = (load: () => Promise<FactsByChain>) =>
    cached({ clock, maxAgeMs: ROW_COUNT_MAX_AGE_MS, staleMs: ROW_COUNT_STALE_MS, load });
  const settlements = kept(() => countSettlements(deps));
  const agents = kept(() => readTable(reader, 'agents', sql`chain`));
  const attestations = kept(() => readTable(reader, 'attestations', sql`chain`));
  const everywhere = sql`arrayJoin(arrayPushBack(arrayDistinct(chains), ${trustedText(`'${EVERY_CHAIN}'`)}))`;
  const endpoints = kept(() => readTable(reader, 'endpoint_list', everywhere));
  return {
    async settlements(chains) {
      const [counted, statuses] = await Promise.all([settlements(), freshness.statuses()]);
      const { rowCount } = together(counted, chains);
      const written = chains.map((chain) => statuses.get(chain)?.lastWrittenAt ?? null);
      return { rowCount, lastWrittenAt: newest(written) };
    },
    agents: async (chains) => together(await agents(), chains),
    attestations: async (chains) => together(await attestations(), chains),
    endpoints: async (chain) => together(await endpoints(), [chain ?? EVERY_CHAIN]),
    newestTime: cached({
      clock,
      maxAgeMs: NEWEST_MAX_AGE_MS,
      // An empty table is asked again each time: its first row must be served at once.
      keep: (time) => time !== null,
      load: () => readNewestTime(reader),
    }),
  };
}

function together(facts: FactsByChain, chains: readonly string[]): TableFacts {
  const found = chains.flatMap((chain) => facts.get(chain) ?? []);
  return {
    rowCount: found.reduce((sum, { rowCount }) => sum + rowCount, 0),
    lastWrittenAt: newest(found.map(({ lastWrittenAt }) => lastWrittenAt)),
  };
}

function newest(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.max(...known);
}

/** Every settlement has one relayer, and what relayers did in closed slices is merged already; only open slices are counted. */
async function countSettlements({
  reader,
  rollups,
}: Pick<DatasetDeps, 'reader' | 'rollups'>): Promise<FactsByChain> {
  const coverage = await rollups.coverage();
  const totals = await readRelayerTotals(reader, RESOURCE, coverage);
  const counted = unionAll([
    ...closedRelayers(sql`chain, settlement_count AS n`, [], { coverage, totals }),
    sql`SELECT chain, count() FROM (SELECT chain, kind, del FROM settlements FINAL WHERE ${openRows(coverage)})
      WHERE ${IS_COUNTED} GROUP BY chain`,
  ]);
  const { rows } = await ask(reader, RESOURCE, {
    name: 'dataset-row-count',
    maxSeconds: ROW_COUNT_MAX_SECONDS,
    maxRows: CHAINS_MAX,
    settings: { ...TWO_THREADS, do_not_merge_across_partitions_select_final: 1 },
    sql: sql`SELECT chain, sum(n) FROM (${counted}) GROUP BY chain`,
  });
  return new Map(
    rows.map((row) => [textField(row[0]), { rowCount: integerField(row[1]), lastWrittenAt: null }]),
  );
}

/** Live rows by chain, and when the newest of them was written: versions are times. */
async function readTable(
  reader: Reader,
  table: 'agents' | 'attestations' | 'endpoint_list',
  chain: Sql,
): Promise<FactsByChain> {
  const { rows } = await ask(reader, table === 'endpoint_list' ? 'endpoints' : table, {
    name: `dataset-${table.replaceAll('_', '-')}`,
    maxSeconds: ROW_COUNT_MAX_SECONDS,
    maxRows: CHAINS_MAX,
    settings: { ...TWO_THREADS, do_not_merge_across_partitions_select_final: 1 },
    sql: sql`SELECT ${chain} AS of_chain, count(), toString(max(ver))
      FROM (SELECT * FROM ${trustedText(table)} FINAL) WHERE del = 0 GROUP BY of_chain`,
  });
  return new Map(
    rows.map((row) => [
      textField(row[0]),
      {
        rowCount: integerField(row[1]),
        lastWrittenAt: Math.floor(versionTimeMs(bigintField(row[2])) / 1_000),
      },
    ]),
  );
}

/** `max()` without a condition is answered from part metadata. `count()` tells an empty table from one of 1970. */
async function readNewestTime(reader: Reader): Promise<number | null> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'dataset-newest-time',
    maxSeconds: NEWEST_MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT toUnixTimestamp(max(block_time)), count() FROM settlements`,
  });
  return integerField(rows[0]?.[1]) === 0 ? null : integerField(rows[0]?.[0]);
}

/** About how many rows each public table has, from the engine's own accounts: no table is read for it. */
export interface PublicTableRows {
  /** Rows as they are stored: a superseded version counts until it is merged away. */
  counts(): Promise<ReadonlyMap<PublicTableName, number>>;
}

const MAX_AGE_MS = 10_000;
const MAX_SECONDS = 5;
const STORES_MAX = 100;

export function createPublicTableRows(deps: {
  readonly reader: Reader;
  readonly clock: Clock;
  /** Rows of `tokens`, which is not stored: its view holds them. */
  readonly tokens: number;
}): PublicTableRows {
  const { reader, clock, tokens } = deps;
  return { counts: cached({ clock, maxAgeMs: MAX_AGE_MS, load: () => readCounts(reader, tokens) }) };
}

/** Rows of the generation that is published; its table also holds those before and after it. */
const PUBLISHED = sql`SELECT 'wallet_verdicts', count() FROM wallet_verdicts WHERE gen IN (SELECT max(gen) FROM verdict_passes)
  UNION ALL SELECT 'wallet_rings', count() FROM wallet_rings WHERE gen IN (SELECT max(gen) FROM ring_passes)
  UNION ALL SELECT 'proposed_relayers', count() FROM proposed_relayers WHERE ${trustedText(openProposalsText())}`;

async function readCounts(reader: Reader, tokens: number): Promise<ReadonlyMap<PublicTableName, number>> {
  const stores = PUBLIC_TABLE_NAMES.map((name) => PUBLIC_TABLE_STORES[name]).filter(
    (store) => store !== null,
  );
  const { rows } = await ask(reader, 'sql', {
    name: 'public-table-rows',
    maxSeconds: MAX_SECONDS,
    maxRows: STORES_MAX,
    sql: sql`SELECT table, sum(rows) FROM ${trustedText(NODE_VIEWS.parts)}
WHERE active AND database = currentDatabase() AND table IN ${texts(stores)} GROUP BY table`,
  });
  const { rows: published } = await ask(reader, 'sql', {
    name: 'published-rows',
    maxSeconds: MAX_SECONDS,
    maxRows: STORES_MAX,
    sql: PUBLISHED,
  });
  const countOf = (row: readonly unknown[]) => [textField(row[0]), integerField(row[1])] as const;
  const stored = new Map([...rows.map(countOf), ...published.map(countOf)]);
  const rowsOf = (name: PublicTableName): number =>
    name === 'tokens' ? tokens : (stored.get(PUBLIC_TABLE_STORES[name] ?? '') ?? 0);
  return new Map(PUBLIC_TABLE_NAMES.map((name) => [name, rowsOf(name)] as const));
}
