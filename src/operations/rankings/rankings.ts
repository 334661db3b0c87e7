import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField } from '../../../clickhouse/engine/row-reader.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { Window } from '../../../core/domain/window.ts';
import { ask } from '../ask.ts';
import type { OperationDeps } from '../deps.ts';
import type { Rollups } from '../index-state/rollups.ts';
import {
  directoryParts,
  readCapabilityRanking,
  readDirectorySparklines,
  readEndpointRanking,
} from './directory.ts';
import { FACILITATORS_RESOURCE, readFacilitatorRanking, readFacilitatorSparklines } from './facilitators.ts';
import { keepRankings, type Ranking } from './kept.ts';
import type { PaymentOrder, RankedSubject } from './orders.ts';
import { type RankedPass, readPass } from './passes.ts';
import { type RankedRow, subjectKey } from './row.ts';
import { readWalletSparklines } from './sparklines.ts';
import { readWalletRanking, WALLETS_RESOURCE, type WalletSubject } from './wallets.ts';
import { type Parts, partsOf } from './windows.ts';

/**
 * Every ranking by payments, read once for all callers (kept.ts). Rankings of wallets and facilitators come from a pass of the worker (passes.ts).
 */

export interface RankingScope {
  readonly of: RankedSubject;
  readonly by: PaymentOrder;
  readonly window: Window;
  /** Undefined: every served chain. */
  readonly chain: Chain | undefined;
  readonly capability: string | undefined;
  /** Part of the name of a merchant. */
  readonly name?: string | undefined;
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
  /** Whether no pass over the window has ended yet. */
  readonly isPending: boolean;
}

export interface RankingDeps extends OperationDeps {
  readonly rankings: Rankings;
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

type Sparklines = ReadonlyMap<string, readonly bigint[]>;

interface KeptRanking extends Ranking {
  /** That ranked or judged the wallets; null before the first one, undefined where none is needed. */
  readonly pass: RankedPass | null | undefined;
  /** Whether nothing but a new pass changes it. */
  readonly isOfPass: boolean;
  readonly rows: readonly RankedRow[];
  readonly parts: Parts | null;
  /** By chunk; read when a page first shows one of its rows. */
  readonly sparklines: Map<number, Promise<Sparklines>>;
  readSparklines(rows: readonly RankedRow[]): Promise<Sparklines>;
}

interface ReadingDeps {
  readonly reader: Reader;
  readonly clock: Clock;
  readonly rollups: Rollups;
  readonly chains: readonly Chain[];
}

export function createRankings(deps: ReadingDeps): Rankings {
  const kept = keepRankings<RankingScope, KeptRanking>({
    clock: deps.clock,
    depths: DEPTHS,
    read: async (scope, depth, old) => {
      const ranking = await readRanking(deps, scope, depth);
      // Callers get the old ranking until the sparklines that its pages showed are read for the new one, too.
      for (const chunk of old?.sparklines.keys() ?? [])
        await sparklinesOf(ranking, chunk * CHUNK_ROWS, rowsOfChunk(ranking, chunk));
      return ranking;
    },
    isCurrent: async ({ pass, isOfPass }) =>
      isOfPass &&
      pass != null &&
      (await readPass(deps.reader, pass.window, WALLETS_RESOURCE))?.gen === pass.gen,
  });
  return {
    async page(scope, { offset, limit }) {
      const ranking = await kept.reaching(scope, offset + limit + 1);
      const rows = ranking.rows.slice(offset, offset + limit);
      const sparklines = await sparklinesOf(ranking, offset, rows.length);
      return {
        rankedAtMs: ranking.rankedAtMs,
        rows: rows.map((row) => ({ ...row, sparkline: sparklines.get(subjectKey(row.subject)) ?? [] })),
        hasMore: ranking.size > offset + limit,
        parts: ranking.parts,
        isPending: ranking.pass === null,
      };
    },
  };
}

function rowsOfChunk({ size }: KeptRanking, chunk: number): number {
  return Math.min(CHUNK_ROWS, Math.max(0, size - chunk * CHUNK_ROWS));
}

/** A failed read is not kept: the next page asks again. */
async function sparklinesOf(ranking: KeptRanking, offset: number, count: number): Promise<Sparklines> {
  const { rows, sparklines } = ranking;
  if (count === 0) return new Map();
  const [first, last] = [Math.floor(offset / CHUNK_ROWS), Math.floor((offset + count - 1) / CHUNK_ROWS)];
  const chunks = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const read = chunks.map((chunk) => {
    const known = sparklines.get(chunk);
    if (known !== undefined) return known;
    const started = ranking.readSparklines(rows.slice(chunk * CHUNK_ROWS, (chunk + 1) * CHUNK_ROWS));
    sparklines.set(chunk, started);
    started.catch(() => sparklines.delete(chunk));
    return started;
  });
  return new Map((await Promise.all(read)).flatMap((some) => [...some]));
}

type Read = Pick<KeptRanking, 'rankedAtMs' | 'rows' | 'parts' | 'readSparklines' | 'pass' | 'isOfPass'>;

async function readRanking(deps: ReadingDeps, ranked: RankingScope, depth: number): Promise<KeptRanking> {
  const chains = ranked.chain === undefined ? deps.chains : [ranked.chain];
  const read = await readAny({ ...deps, chains }, ranked, depth);
  return {
    ...read,
    size: read.rows.length,
    isComplete: read.rows.length < depth,
    sparklines: new Map(),
  };
}

function readAny(deps: ReadingDeps, ranked: RankingScope, depth: number): Promise<Read> {
  const { of } = ranked;
  switch (of) {
    case 'endpoints':
    case 'capabilities':
      return readListed(deps, { ...ranked, of }, depth);
    case 'facilitators':
      return readFacilitators(deps, { ...ranked, of }, depth);
    default:
      return readWallets(deps, { ...ranked, of }, depth);
  }
}

const withoutSparklines = () => Promise.resolve(new Map());

async function readListed(
  { reader, clock, chains }: ReadingDeps,
  ranked: RankingScope & { readonly of: 'endpoints' | 'capabilities' },
  depth: number,
): Promise<Read> {
  const { of, by, window } = ranked;
  if (by !== 'settlements' && by !== 'counterparties') throw new TypeError(`${of} by ${by}`);
  const query = { ...ranked, by };
  const rankedAtMs = clock.nowMs();
  const parts = directoryParts(window, Math.floor(rankedAtMs / 1_000), await readFirstDay(reader));
  const about = {
    rankedAtMs,
    isOfPass: false,
    parts,
    readSparklines: (rows: readonly RankedRow[]) => readDirectorySparklines(reader, query, { rows, parts }),
  } as const;
  if (of === 'capabilities')
    return { ...about, pass: undefined, rows: await readCapabilityRanking(reader, query, depth) };
  const pass = await readPass(reader, window, 'endpoints');
  return { ...about, pass, rows: await readEndpointRanking(reader, query, { pass, chains, depth }) };
}

async function readFacilitators(
  { reader, clock, chains }: ReadingDeps,
  ranked: RankingScope,
  depth: number,
): Promise<Read> {
  const pass = await readPass(reader, ranked.window, FACILITATORS_RESOURCE);
  const rankedAtMs = pass?.rankedAtMs ?? clock.nowMs();
  const parts = partsOf(ranked.window, Math.floor(rankedAtMs / 1_000), await readFirstDay(reader));
  const about = { rankedAtMs, pass, isOfPass: true, parts } as const;
  if (pass === null) return { ...about, rows: [], readSparklines: withoutSparklines };
  const query = { ...ranked, chains };
  return {
    ...about,
    rows: await readFacilitatorRanking(reader, query, { pass, depth }),
    readSparklines: (rows) => readFacilitatorSparklines(reader, query, { pass, rows, parts }),
  };
}

async function readWallets(
  { reader, clock, rollups, chains }: ReadingDeps,
  ranked: RankingScope & { readonly of: WalletSubject },
  depth: number,
): Promise<Read> {
  const pass = await readPass(reader, ranked.window, WALLETS_RESOURCE);
  const rankedAtMs = pass?.rankedAtMs ?? clock.nowMs();
  const parts = partsOf(ranked.window, Math.floor(rankedAtMs / 1_000), await readFirstDay(reader));
  const about = { rankedAtMs, pass, isOfPass: true, parts } as const;
  if (pass === null) return { ...about, rows: [], readSparklines: withoutSparklines };
  const query = { ...ranked, chains };
  return {
    ...about,
    rows: await readWalletRanking(reader, query, { pass, depth }),
    readSparklines: async (rows) =>
      readWalletSparklines(reader, query, { pass, coverage: await rollups.coverage(), rows, parts }),
  };
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
