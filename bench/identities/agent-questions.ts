import { empty, type Sql, sql, text, uint32 } from '../../clickhouse/engine/sql.ts';
import type { Chain } from '../../core/domain/chains.ts';
import { mintAgentCursor } from '../../core/domain/cursor.ts';
import type { RouteQuestion } from './ask-route.ts';
import { type IdentityLab, oneRow } from './lab.ts';
import { BENCH_CHAINS } from './synthetic-agents.ts';
import { ABSENT_WORD, COMMON_WORD, RARE_WORD } from './synthetic-words.ts';

/** /agents, /agents/{wallet} and /leaderboard. */

const LIMIT = 50;
const [FIRST] = BENCH_CHAINS;
/** Most of what a page may read: granules of its rows in every part, and of the wallets' settlements. */
const PAGE_ROWS_READ = 60_000;
/** Of the agents, read for a search that finds a handful or nothing. */
const SEARCH_PERCENT = 5;
/** Goal of the project's plan for the first page, milliseconds. */
const LEADERBOARD_MS = 100;
const DEEP_RANK = 100_000;
const DEEP_RANK_QUICK = 4_000;

interface AgentKey {
  readonly chain: string;
  readonly agent_id: string;
}

const keyOf = ({ chain, agent_id }: AgentKey): string => `${chain} ${agent_id}`;
const KEY = sql`concat(chain, ' ', toString(agent_id))`;
const ON_FIRST = sql`AND chain = ${text(FIRST)}`;
/** Versions are merged before anything is looked at, columns are those that the conditions name. */
const scanOf = (condition: Sql, order: Sql, more: Sql = empty): Sql =>
  sql`SELECT ${KEY} FROM (SELECT * FROM agents FINAL) WHERE del = 0 ${condition} ORDER BY ${order} LIMIT ${uint32(LIMIT)} ${more}`;
const NEWEST_FIRST = sql`chain DESC, agent_id DESC`;

export async function agentQuestions(lab: IdentityLab, quick: boolean): Promise<RouteQuestion[]> {
  return [
    ...(await listQuestions(lab)),
    ...(await profileQuestions(lab)),
    ...(await rankQuestions(lab, quick)),
  ];
}

function listed(name: string, query: string, scan: Sql, more: Partial<RouteQuestion> = {}): RouteQuestion {
  return {
    name: `agents-${name}`,
    asks: [{ path: `/v0/agents?limit=${LIMIT}${query}`, scan }],
    keysOf: (body) => (body as { readonly agents: readonly AgentKey[] }).agents.map(keyOf), // our own API
    goals: { rowsReadBelow: PAGE_ROWS_READ },
    ...more,
  };
}

async function listQuestions(lab: IdentityLab): Promise<RouteQuestion[]> {
  const deepId = BigInt(Math.floor(lab.size.agents / 5));
  const deep = mintAgentCursor(lab.api.cursorKeys, 'listAgents', { chain: FIRST as Chain, agentId: deepId });
  const says = (word: string): Sql =>
    sql`${ON_FIRST} AND (name ILIKE ${text(`%${word}%`)} OR description ILIKE ${text(`%${word}%`)})`;
  const search = { goals: { readOfScanPercent: SEARCH_PERCENT } };
  const owners = await ownersOf(lab);
  const owned = (owner: string): Sql => sql`${ON_FIRST} AND owner = unhex(${text(owner.slice(2))})`;
  return [
    listed('first-page', '', scanOf(ON_FIRST, NEWEST_FIRST)),
    listed('all-chains', '&chain=all', scanOf(empty, NEWEST_FIRST)),
    listed(
      'deep-page',
      `&before=${deep}`,
      scanOf(sql`${ON_FIRST} AND agent_id < ${uint32(Number(deepId))}`, NEWEST_FIRST),
    ),
    listed('word-rare', `&q=${RARE_WORD}`, scanOf(says(RARE_WORD), NEWEST_FIRST), search),
    listed('word-absent', `&q=${ABSENT_WORD}`, scanOf(says(ABSENT_WORD), NEWEST_FIRST), {
      ...search,
      findsNothing: true,
    }),
    listed('word-common', `&q=${COMMON_WORD}`, scanOf(says(COMMON_WORD), NEWEST_FIRST), {
      goals: { rowsReadBelow: PAGE_ROWS_READ },
    }),
    listed(
      'words-common-and-rare',
      `&q=${COMMON_WORD}%20${RARE_WORD}`,
      scanOf(sql`${says(COMMON_WORD)} ${says(RARE_WORD)}`, NEWEST_FIRST),
      search,
    ),
    listed('owner-busiest', `&owner=${owners.busiest}`, scanOf(owned(owners.busiest), NEWEST_FIRST)),
    listed('owner-of-one', `&owner=${owners.ofOne}`, scanOf(owned(owners.ofOne), NEWEST_FIRST)),
    ...['web-search', 'legal-and-government'].map((slug) =>
      listed(
        `capability-${slug}`,
        `&capability=${slug}`,
        scanOf(sql`${ON_FIRST} AND has(capabilities, ${text(slug)})`, NEWEST_FIRST),
      ),
    ),
  ];
}

async function ownersOf(lab: IdentityLab): Promise<{ readonly busiest: string; readonly ofOne: string }> {
  const pick = async (choice: Sql): Promise<string> => {
    const [owner] = await oneRow(
      lab,
      sql`SELECT concat('0x', lower(hex(owner))) FROM agents FINAL WHERE del = 0 ${ON_FIRST} GROUP BY owner ${choice} LIMIT 1`,
    );
    return String(owner);
  };
  return {
    busiest: await pick(sql`ORDER BY count() DESC, owner`),
    ofOne: await pick(sql`HAVING count() = 1 ORDER BY owner`),
  };
}

/** Agents and settlements of a wallet: one with thousands of agents, one with a single agent that settles, one without any. */
async function profileQuestions(lab: IdentityLab): Promise<RouteQuestion[]> {
  const pick = async (choice: Sql): Promise<string> => {
    const [wallet] = await oneRow(
      lab,
      sql`SELECT concat('0x', lower(hex(wallet))) FROM agents FINAL WHERE del = 0 AND wallet != toFixedString('', 20) GROUP BY wallet ${choice} LIMIT 1`,
    );
    return String(wallet);
  };
  const settles = sql`wallet IN (SELECT payee FROM settlements)`;
  const [nobody] = await oneRow(
    lab,
    sql`SELECT concat('0x', lower(hex(payer))) FROM settlements WHERE payer NOT IN (SELECT wallet FROM agents) ORDER BY payer LIMIT 1`,
  );
  const profile = (name: string, wallet: string, findsNothing: boolean): RouteQuestion => ({
    name: `agent-of-wallet-${name}`,
    asks: [{ path: `/v0/agents/${wallet}?chain=all` }],
    keysOf: (body) => (body as { readonly erc8004_agents: readonly AgentKey[] }).erc8004_agents.map(keyOf), // our own API
    ...(findsNothing ? { findsNothing } : {}),
    // Agents of one wallet may stand in every granule of the table.
    goals: { rowsReadBelow: lab.size.agents },
  });
  return [
    profile('busiest', await pick(sql`ORDER BY count() DESC, wallet`), false),
    profile('that-settles', await pick(sql`HAVING ${settles} ORDER BY count(), wallet`), false),
    profile('without', String(nobody), true),
  ];
}

async function rankQuestions(lab: IdentityLab, quick: boolean): Promise<RouteQuestion[]> {
  const [scored] = await oneRow(
    lab,
    sql`SELECT countIf(score IS NOT NULL) FROM agents FINAL WHERE del = 0 ${ON_FIRST}`,
  );
  const ranked = (
    name: string,
    offset: number,
    unscored: boolean,
    more: Partial<RouteQuestion>,
  ): RouteQuestion => ({
    name: `leaderboard-${name}`,
    asks: [
      {
        path: `/v0/leaderboard?limit=${LIMIT}&offset=${offset}${unscored ? '&include_spam=1' : ''}`,
        scan: scanOf(
          unscored ? ON_FIRST : sql`${ON_FIRST} AND score IS NOT NULL`,
          sql`isNull(score), score DESC, chain, agent_id`,
          sql`OFFSET ${uint32(offset)}`,
        ),
      },
    ],
    keysOf: (body) => (body as { readonly leaderboard: readonly AgentKey[] }).leaderboard.map(keyOf), // our own API
    goals: {},
    ...more,
  });
  const goals = { p50BelowMs: LEADERBOARD_MS };
  const border = Number(scored) - LIMIT / 2;
  return [
    ranked('first-page', 0, false, { goals }),
    ranked('first-page-remembered', 0, false, { goals, remembers: true }),
    ranked('deep-page', quick ? DEEP_RANK_QUICK : DEEP_RANK, false, {}),
    ranked('deep-page-remembered', quick ? DEEP_RANK_QUICK : DEEP_RANK, false, { remembers: true }),
    ranked('border', border, true, {}),
    ranked('border-remembered', border, true, { remembers: true }),
  ];
}
