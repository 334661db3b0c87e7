import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField } from '../../../clickhouse/engine/row-reader.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { Window } from '../../../core/domain/window.ts';
import { ask } from '../ask.ts';
import type { Rollups } from '../index-state/rollups.ts';
import { readCapabilityRanking, readEndpointRanking } from './directory.ts';
import { readFacilitatorDetails, readFacilitatorRanking } from './facilitators.ts';
import { keepRankings, type Ranking } from './kept.ts';
import type { PaymentOrder, Subject } from './orders.ts';
import { flowScope } from './organic.ts';
import type { RankedRow, RankedSubject, RowDetails } from './row.ts';
import { readWalletDetails, readWalletRanking, spansNeeded } from './wallets.ts';
import { type Parts, partsOf } from './windows.ts';

/** Every ranking by payments, computed once for all callers (kept.ts). */

export interface RankingScope {
  readonly of: Subject;
  readonly by: PaymentOrder;
  readonly window: Window;
  /** Undefined: every served chain. */
  readonly chain: Chain | undefined;
  readonly capability: string | undefined;
  readonly minCounterparties: number;
  readonly includeFlagged: boolean;
}

export interface RankingPage {
  /** Unix milliseconds. */
  readonly rankedAtMs: number;
  readonly rows: readonly (RankedRow & { readonly sparkline: readonly bigint[] })[];
  readonly hasMore: boolean;
  /** Of the sparklines; null where there are none. */
  readonly parts: Parts | null;
}

export interface Rankings {
  /** `offset` is at most `RANKING_OFFSET_MAX`, `limit` at most 100. */
  page(scope: RankingScope, range: { readonly offset: number; readonly limit: number }): Promise<RankingPage>;
}

export const RANKING_OFFSET_MAX = 10_000;
const PAGE_MAX = 100;
const DEPTHS = [1_000, RANKING_OFFSET_MAX + PAGE_MAX + 1] as const;
/** Rows whose details are read in one statement. */
const CHUNK_ROWS = 100;
const FIRST_DAY_MAX_SECONDS = 5;

type Details = ReadonlyMap<string, RowDetails>;

interface KeptRanking extends Ranking {
  readonly rows: readonly RankedRow[];
  readonly parts: Parts | null;
  /** By chunk; read when a page first shows one of its rows. */
  readonly details: Map<number, Promise<Details>>;
  readDetails(rows: readonly RankedRow[]): Promise<Details>;
}

interface RankingDeps {
  readonly reader: Reader;
  readonly clock: Clock;
  readonly rollups: Rollups;
  readonly chains: readonly Chain[];
}

export function createRankings(deps: RankingDeps): Rankings {
  const kept = keepRankings<RankingScope, KeptRanking>({
    clock: deps.clock,
    depths: DEPTHS,
    read: (scope, depth) => readRanking(deps, scope, depth),
  });
  return {
    async page(scope, { offset, limit }) {
      const ranking = await kept.reaching(scope, offset + limit + 1);
      const rows = ranking.rows.slice(offset, offset + limit);
      const details = await detailsOf(ranking, offset, rows.length);
      return {
        rankedAtMs: ranking.rankedAtMs,
        rows: rows.map((row) => withDetails(row, details.get(keyOf(row.subject)))),
        hasMore: ranking.size > offset + limit,
        parts: ranking.parts,
      };
    },
  };
}

/** A failed read is not kept: the next page asks again. */
async function detailsOf(ranking: KeptRanking, offset: number, count: number): Promise<Details> {
  const { rows, details } = ranking;
  if (count === 0) return new Map();
  const [first, last] = [Math.floor(offset / CHUNK_ROWS), Math.floor((offset + count - 1) / CHUNK_ROWS)];
  const chunks = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const read = chunks.map((chunk) => {
    const known = details.get(chunk);
    if (known !== undefined) return known;
    const started = ranking.readDetails(rows.slice(chunk * CHUNK_ROWS, (chunk + 1) * CHUNK_ROWS));
    details.set(chunk, started);
    started.catch(() => details.delete(chunk));
    return started;
  });
  return new Map((await Promise.all(read)).flatMap((some) => [...some]));
}

function withDetails(row: RankedRow, details: RowDetails = { sparkline: [] }): RankingPage['rows'][number] {
  const { sparkline, counterparties = row.figures.counterparties, verdict = row.verdict } = details;
  return { ...row, figures: { ...row.figures, counterparties }, verdict, sparkline };
}

/** As the reads of details name their rows. */
function keyOf({ chain, wallet, facilitator }: RankedSubject): string {
  return `${chain ?? ''} ${wallet ?? facilitator ?? ''}`;
}

async function readRanking(
  { reader, clock, rollups, chains }: RankingDeps,
  ranked: RankingScope,
  depth: number,
): Promise<KeptRanking> {
  const { of, by, window, chain } = ranked;
  const rankedAtMs = clock.nowMs();
  const nowSeconds = Math.floor(rankedAtMs / 1_000);
  const scope = flowScope(window, {
    chains: chain === undefined ? chains : [chain],
    nowMs: rankedAtMs,
    coverage: await rollups.coverage(),
    spans: spansNeeded(by),
  });
  const keep = (
    rows: readonly RankedRow[],
    parts: Parts | null,
    readDetails: KeptRanking['readDetails'],
  ): KeptRanking => ({
    rankedAtMs,
    size: rows.length,
    isComplete: rows.length < depth,
    rows,
    parts,
    details: new Map(),
    readDetails,
  });
  const without = () => Promise.resolve(new Map());
  switch (of) {
    case 'endpoints':
    case 'capabilities': {
      if (by !== 'settlements' && by !== 'counterparties') throw new TypeError(`${of} by ${by}`);
      const query = { ...ranked, by };
      return of === 'endpoints'
        ? keep(await readEndpointRanking(reader, query, { scope, depth }), null, without)
        : keep(await readCapabilityRanking(reader, query, depth), null, without);
    }
    case 'facilitators': {
      const parts = partsOf(window, nowSeconds, await readFirstDay(reader));
      const query = { ...ranked, of };
      const rows = await readFacilitatorRanking(reader, query, { scope, depth });
      return keep(rows, parts, (shown) =>
        readFacilitatorDetails(reader, query, { scope, rows: shown, parts }),
      );
    }
    default: {
      const parts = partsOf(window, nowSeconds, await readFirstDay(reader));
      const query = { ...ranked, of };
      const rows = await readWalletRanking(reader, query, { scope, depth });
      return keep(rows, parts, (shown) => readWalletDetails(reader, query, { scope, rows: shown, parts }));
    }
  }
}

/** Unix seconds of the first hour with a settlement; of now, where there is none. */
async function readFirstDay(reader: Reader): Promise<number> {
  const { rows } = await ask(reader, 'settlements', {
    name: 'first-hour',
    maxSeconds: FIRST_DAY_MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT if(count() = 0, toUnixTimestamp(now()), toUnixTimestamp(min(hour))) FROM hour_ver`,
  });
  return integerField(rows[0]?.[0]);
}
