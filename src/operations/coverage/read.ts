import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, sql, texts, trustedText, uint32 } from '../../../clickhouse/engine/sql.ts';
import { coverageDaysBody } from '../../../clickhouse/guest/views/coverage-days.ts';
import { DAY_SECONDS } from '../../../clickhouse/tables/coverage.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { BLOCK_SOURCES, type BlockSourceName } from '../../../core/domain/coverage.ts';
import { COVERAGE_DAYS } from '../../../core/domain/public-tables/coverage.ts';
import { ask, TWO_THREADS } from '../ask.ts';

/** The public table `coverage_days`, for the newest days. */

type CountName = Extract<(typeof COVERAGE_DAYS.columns)[number]['name'], `${string}_count`>;

export interface CoverageDay {
  readonly chain: Chain;
  /** YYYY-MM-DD, UTC. */
  readonly day: string;
  /** By the name of the column. */
  count(name: CountName): number;
  readonly proposed: number | null;
  /** Null where no read of a block of the day is recorded. */
  readonly blocks: {
    readonly first: number;
    readonly last: number;
    readonly indexed: number;
    readonly partial: number;
    readonly missing: number;
  } | null;
  readonly sources: readonly BlockSourceName[];
}

/** 0.1 s for a million rows on one thread: more than 90 days of the busiest chain of today. */
const MAX_SECONDS = 20;

const COUNTS = COVERAGE_DAYS.columns.flatMap(({ name, type }) => (type === 'UInt64' ? [name] : []));
const OTHERS = [
  'proposed_count',
  'first_block',
  'last_block',
  'indexed_blocks',
  'partial_blocks',
  'missing_blocks',
];
const { columns, from } = coverageDaysBody('');
const listed = ['chain', ...COUNTS, ...OTHERS].map((name) => {
  const expressions: Readonly<Partial<Record<string, string>>> = columns;
  return expressions[name] ?? `t.${name}`;
});

/** Newest day first, then by chain. `days` counts the day of `nowMs`. */
export async function readCoverageDays(
  reader: Reader,
  {
    chains,
    days,
    nowMs,
  }: { readonly chains: readonly Chain[]; readonly days: number; readonly nowMs: number },
): Promise<readonly CoverageDay[]> {
  const firstDay = Math.floor(nowMs / 1_000 / DAY_SECONDS) - days + 1;
  const { rows } = await ask(reader, 'chains', {
    name: 'coverage-days',
    maxSeconds: MAX_SECONDS,
    // Rows of the future are those of a chain whose clock is ahead.
    maxRows: chains.length * (days + 1),
    settings: { ...TWO_THREADS, do_not_merge_across_partitions_select_final: 1 },
    sql: sql`SELECT toString(t.day), t.sources, ${trustedText(listed.join(', '))} FROM ${trustedText(from)}
      WHERE ${allOf([sql`t.day >= toDate(${uint32(firstDay)})`, sql`t.day <= toDate(${uint32(firstDay + days)})`, sql`t.chain IN ${texts(chains)}`])}
      ORDER BY t.day DESC, t.chain`,
  });
  return rows.map(decodeDay);
}

function decodeDay([day, sources, chain, ...figures]: readonly unknown[]): CoverageDay {
  const counts = new Map(COUNTS.map((name, at) => [name, integerField(figures[at])] as const));
  const [proposed, first, last, indexed, partial, missing] = figures
    .slice(COUNTS.length)
    .map((field) => (field === null ? null : integerField(field)));
  return {
    chain: textField(chain) as Chain, // written by ingest from `Chain` values only
    day: textField(day),
    count: (name) => counts.get(name) ?? 0,
    proposed: proposed ?? null,
    blocks:
      first == null || last == null
        ? null
        : { first, last, indexed: indexed ?? 0, partial: partial ?? 0, missing: missing ?? 0 },
    sources: BLOCK_SOURCES.filter((source) => Array.isArray(sources) && sources.includes(source)),
  };
}
