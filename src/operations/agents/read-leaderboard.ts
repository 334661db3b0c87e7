import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, type Sql, sql, text, texts, uint32, uint64 } from '../../../clickhouse/engine/sql.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { ask } from '../ask.ts';
import type { OperationDeps } from '../deps.ts';
import { keepRankings, type Ranking } from '../rankings/kept.ts';
import { type RankedPass, rankedWallets, readPass } from '../rankings/passes.ts';
import { RANKING_SETTINGS } from '../rankings/windows.ts';

/**
 * ERC-8004 agents by score, or by the ratings of paying clients. The order is the same for every caller and costs a pass over all
 * agents, so pages are cut from a ranking that is kept for a while (rankings/kept.ts). It holds keys and scores as texts of a thousand agents each, because half a million objects would take ten
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

/** score: every rating; paid_score: those whose proof of payment holds. */
export type RankedBy = 'score' | 'paid_score';

interface LeaderboardScope {
  /** Undefined: every served chain. */
  readonly chain: Chain | undefined;
  readonly by: RankedBy;
  /** Whether agents without a score stand below those with one. */
  readonly withUnscored: boolean;
  readonly capability: string | undefined;
  readonly minClients: number;
  /** Of `paid_score` only: whether agents stay whose wallet is suspect by its payments. */
  readonly includeFlagged: boolean;
}

interface LeaderboardPage {
  /** Unix milliseconds. */
  readonly rankedAtMs: number;
  readonly agents: readonly RankedAgent[];
  readonly hasMore: boolean;
  /** Whether it leaves agents out for their payments, which no pass has judged yet. */
  readonly isPending: boolean;
}

export interface LeaderboardDeps extends OperationDeps {
  readonly leaderboard: Leaderboard;
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
const RANKING_MAX_SECONDS = 30;
const CHUNK_AGENTS = 1_000;
const RESOURCE = 'agents';
/** Over which the wallets of agents with paid ratings are judged. */
const FLAGGED_WINDOW = '30d';

interface AgentRanking extends Ranking {
  readonly isPending: boolean;
  readonly chains: readonly Chain[];
  /** Entries of `CHUNK_AGENTS` agents each, joined by commas. */
  readonly chunks: readonly string[];
}

interface ReadingDeps {
  readonly reader: Reader;
  readonly clock: Clock;
  readonly chains: readonly Chain[];
}

export function createLeaderboard(deps: ReadingDeps): Leaderboard {
  const kept = keepRankings<LeaderboardScope, AgentRanking>({
    clock: deps.clock,
    depths: DEPTHS,
    read: (scope, depth) => readRanking(deps, scope, depth),
    isCurrent: () => Promise.resolve(false),
  });
  return {
    async page(scope, { offset, limit }) {
      const ranking = await kept.reaching(scope, offset + limit + 1);
      return {
        rankedAtMs: ranking.rankedAtMs,
        agents: cut(ranking, offset, limit),
        hasMore: ranking.size > offset + limit,
        isPending: ranking.isPending,
      };
    },
  };
}

async function readRanking(
  { reader, clock, chains }: ReadingDeps,
  scope: LeaderboardScope,
  depth: number,
): Promise<AgentRanking> {
  const rankedAtMs = clock.nowMs();
  const served = scope.chain === undefined ? chains : [scope.chain];
  const judges = scope.by === 'paid_score' && !scope.includeFlagged;
  const pass = judges ? await readPass(reader, FLAGGED_WINDOW, RESOURCE) : undefined;
  const flagged = pass == null ? null : isFlagged(pass, served);
  const { rows } = await ask(reader, RESOURCE, {
    name: 'leaderboard-ranking',
    maxSeconds: RANKING_MAX_SECONDS,
    maxRows: Math.ceil(depth / CHUNK_AGENTS),
    settings: RANKING_SETTINGS,
    sql: rankingSql(served, scope, { depth, flagged }),
  });
  const size = rows.reduce((sum, [, count]) => sum + integerField(count), 0);
  return {
    rankedAtMs,
    chains: served,
    size,
    isPending: pass === null,
    isComplete: size < depth,
    chunks: rows.map(([, , entries]) => textField(entries)),
  };
}

/** Condition on agents that are left out because of the payments of their wallets. */
function isFlagged(pass: RankedPass, chains: readonly Chain[]): Sql {
  const suspect = [sql`verdict = 'suspect'`];
  return sql`(chain, wallet) IN (SELECT chain, wallet FROM ${rankedWallets(pass, { role: 'payee', chains, byChain: true }, suspect)})`;
}

const COLUMNS: Readonly<Record<RankedBy, Readonly<Record<'score' | 'count' | 'clients', Sql>>>> = {
  score: { score: sql`score`, count: sql`rating_count`, clients: sql`rating_clients` },
  paid_score: { score: sql`paid_score`, count: sql`paid_count`, clients: sql`paid_clients` },
};

/**
 * An entry is `<place of the chain in the list>:<agent_id>`, and of an agent with a score `:<score>:<ratings>:<clients>` too.
 * The inner SELECT chooses over the columns of the order alone; the printed columns are computed for the chosen ones.
 */
function rankingSql(
  chains: readonly Chain[],
  { by, withUnscored, capability, minClients }: LeaderboardScope,
  { depth, flagged }: { readonly depth: number; readonly flagged: Sql | null },
): Sql {
  const { score, count, clients } = COLUMNS[by];
  const conditions = [
    sql`del = 0`,
    sql`chain IN ${texts(chains)}`,
    ...(withUnscored ? [] : [sql`${score} IS NOT NULL`]),
    ...(capability === undefined ? [] : [sql`has(capabilities, ${text(capability)})`]),
    ...(minClients === 0 ? [] : [sql`${clients} >= ${uint64(minClients)}`]),
    ...(flagged === null ? [] : [sql`NOT (${flagged})`]),
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

function cut(ranking: AgentRanking, offset: number, limit: number): RankedAgent[] {
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
