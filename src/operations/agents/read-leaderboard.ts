import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, type Sql, sql, texts, uint32 } from '../../../clickhouse/engine/sql.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { ask, TWO_THREADS } from '../ask.ts';

/**
 * ERC-8004 agents by score, or by the ratings of paying clients. The order is the same for every caller and costs a pass over all
 * agents, so pages are cut from a ranking that is kept for a while. Only its best part is read, as far down as callers ask: the best
 * thousand cost a tenth of the whole order. It holds keys and scores as texts of a thousand agents each, because half a million objects would take ten
 * times the memory and a second of the event loop.
 */

export interface RankedAgent {
  /** 1 is the best. */
  readonly rank: number;
  readonly chain: Chain;
  readonly agentId: bigint;
  /** As of the ranking, exact decimal text; null for an agent without one. By what it was ranked, as are the next two. */
  readonly score: string | null;
  readonly ratingCount: number;
  readonly ratingClients: number;
}

/** rating: every rating; paid: those whose proof of payment holds. */
export const RANKINGS = ['rating', 'paid'] as const;
export type RankedBy = (typeof RANKINGS)[number];

interface LeaderboardScope {
  /** Undefined: every served chain. */
  readonly chain: Chain | undefined;
  readonly by: RankedBy;
  /** Whether agents without a score stand below those with one. */
  readonly withUnscored: boolean;
}

interface LeaderboardPage {
  /** Unix milliseconds. */
  readonly rankedAtMs: number;
  readonly agents: readonly RankedAgent[];
  readonly hasMore: boolean;
}

export interface Leaderboard {
  /** `offset` is at most `LEADERBOARD_OFFSET_MAX`, `limit` at most 100. */
  page(
    scope: LeaderboardScope,
    range: { readonly offset: number; readonly limit: number },
  ): Promise<LeaderboardPage>;
}

/** Twice the agents that the index is built for. */
export const LEADERBOARD_OFFSET_MAX = 1_000_000;
const PAGE_MAX = 100;
/** How far down a ranking is read, in agents; the last one for the last page and one more. */
const DEPTHS = [1_000, 10_000, 100_000, LEADERBOARD_OFFSET_MAX + PAGE_MAX + 1] as const;
const RANKING_MAX_AGE_MS = 10_000;
/** A ranking is kept this many times as long as it took: at most a twentieth of the time goes into each. */
const RANKING_REST_FACTOR = 20;
const RANKING_MAX_SECONDS = 30;
const CHUNK_AGENTS = 1_000;
const RESOURCE = 'agents';

interface Ranking {
  readonly rankedAtMs: number;
  readonly freshUntilMs: number;
  readonly chains: readonly Chain[];
  /** Agents that it holds. */
  readonly size: number;
  /** Whether there are no others. */
  readonly isComplete: boolean;
  /** Entries of `CHUNK_AGENTS` agents each, joined by commas. */
  readonly chunks: readonly string[];
}

interface LeaderboardDeps {
  readonly reader: Reader;
  readonly clock: Clock;
  readonly chains: readonly Chain[];
}

export function createLeaderboard(deps: LeaderboardDeps): Leaderboard {
  const kept = new Map<string, Ranking>();
  const underWay = new Map<string, Promise<Ranking>>();
  const isFresh = ({ freshUntilMs }: Ranking): boolean => deps.clock.nowMs() < freshUntilMs;

  const keep = (name: string, ranking: Ranking): void => {
    for (const [other, { freshUntilMs }] of kept) if (deps.clock.nowMs() >= freshUntilMs) kept.delete(other);
    // A deeper one that is fresh serves these pages too.
    if ((kept.get(name)?.size ?? 0) <= ranking.size) kept.set(name, ranking);
  };
  const load = (name: string, scope: LeaderboardScope, depth: number): Promise<Ranking> => {
    const flight = `${name} ${depth}`;
    const started =
      underWay.get(flight) ??
      readRanking(deps, scope, depth)
        .then((ranking) => {
          keep(name, ranking);
          return ranking;
        })
        .finally(() => underWay.delete(flight));
    underWay.set(flight, started);
    return started;
  };
  return {
    async page(scope, { offset, limit }) {
      const name = `${scope.chain ?? 'all'} ${scope.by} ${scope.withUnscored}`;
      const wanted = offset + limit + 1;
      const at = kept.get(name);
      const ranking =
        at !== undefined && isFresh(at) && reaches(at, wanted)
          ? at
          : await load(name, scope, depthFor(wanted));
      return {
        rankedAtMs: ranking.rankedAtMs,
        agents: cut(ranking, offset, limit),
        hasMore: ranking.size > offset + limit,
      };
    },
  };
}

function reaches({ size, isComplete }: Ranking, wanted: number): boolean {
  return isComplete || size >= wanted;
}

function depthFor(wanted: number): number {
  const depth = DEPTHS.find((candidate) => candidate >= wanted);
  if (depth === undefined) throw new RangeError(`a leaderboard has no place ${wanted}`);
  return depth;
}

async function readRanking(
  { reader, clock, chains }: LeaderboardDeps,
  scope: LeaderboardScope,
  depth: number,
): Promise<Ranking> {
  const rankedAtMs = clock.nowMs();
  const served = scope.chain === undefined ? chains : [scope.chain];
  const { rows } = await ask(reader, RESOURCE, {
    name: 'leaderboard-ranking',
    maxSeconds: RANKING_MAX_SECONDS,
    maxRows: Math.ceil(depth / CHUNK_AGENTS),
    settings: TWO_THREADS,
    sql: rankingSql(served, scope, depth),
  });
  const size = rows.reduce((sum, [, count]) => sum + integerField(count), 0);
  const tookMs = clock.nowMs() - rankedAtMs;
  return {
    rankedAtMs,
    freshUntilMs: rankedAtMs + Math.max(RANKING_MAX_AGE_MS, tookMs * RANKING_REST_FACTOR),
    chains: served,
    size,
    isComplete: size < depth,
    chunks: rows.map(([, , entries]) => textField(entries)),
  };
}

const COLUMNS: Readonly<Record<RankedBy, Readonly<Record<'score' | 'count' | 'clients', Sql>>>> = {
  rating: { score: sql`score`, count: sql`rating_count`, clients: sql`rating_clients` },
  paid: { score: sql`paid_score`, count: sql`paid_count`, clients: sql`paid_clients` },
};

/**
 * An entry is `<place of the chain in the list>:<agent_id>`, and of an agent with a score `:<score>:<ratings>:<clients>` too.
 * The inner SELECT chooses over the columns of the order alone; what is printed is printed for the chosen ones.
 */
function rankingSql(chains: readonly Chain[], { by, withUnscored }: LeaderboardScope, depth: number): Sql {
  const { score, count, clients } = COLUMNS[by];
  const conditions = [
    sql`del = 0`,
    sql`chain IN ${texts(chains)}`,
    ...(withUnscored ? [] : [sql`${score} IS NOT NULL`]),
  ];
  const ranked = sql`SELECT chain, agent_id, ${score}, ${count}, ${clients} FROM agents FINAL
    WHERE ${allOf(conditions)} ORDER BY ${score} DESC NULLS LAST, chain, agent_id LIMIT ${uint32(depth)}`;
  const rated = sql`concat(':', toString(assumeNotNull(${score})), ':', toString(${count}), ':', toString(${clients}))`;
  return sql`SELECT intDiv(place, ${uint32(CHUNK_AGENTS)}) AS chunk, count(),
      arrayStringConcat(arrayMap(placed -> placed.2, arraySort(groupArray((place, entry)))), ',')
    FROM (
      SELECT rowNumberInAllBlocks() AS place,
        concat(toString(indexOf(${texts(chains)}, chain) - 1), ':', toString(agent_id), if(isNull(${score}), '', ${rated})) AS entry
      FROM (${ranked}))
    GROUP BY chunk ORDER BY chunk`;
}

function cut(ranking: Ranking, offset: number, limit: number): RankedAgent[] {
  const end = Math.min(offset + limit, ranking.size);
  if (offset >= end) return [];
  const first = Math.floor(offset / CHUNK_AGENTS);
  const last = Math.floor((end - 1) / CHUNK_AGENTS);
  return ranking.chunks
    .slice(first, last + 1)
    .flatMap((chunk) => chunk.split(','))
    .slice(offset - first * CHUNK_AGENTS, end - first * CHUNK_AGENTS)
    .map((entry, index) => decodeEntry(entry, ranking.chains, offset + index + 1));
}

function decodeEntry(entry: string, chains: readonly Chain[], rank: number): RankedAgent {
  const [place, agentId, score, ratingCount, ratingClients] = entry.split(':');
  const chain = chains[Number(place)];
  if (chain === undefined || agentId === undefined) throw new TypeError('a ranking holds no such entry');
  return {
    rank,
    chain,
    agentId: BigInt(agentId),
    score: score ?? null,
    ratingCount: integerField(ratingCount ?? 0),
    ratingClients: integerField(ratingClients ?? 0),
  };
}
