import { NO_ACCOUNT } from '../../clickhouse/engine/account.ts';
import { empty, type Sql, sql, text, uint32 } from '../../clickhouse/engine/sql.ts';
import { mintAgentCursor, mintCursor } from '../../core/domain/cursor.ts';
import { numbersOf, rowOf } from '../lab/engine.ts';
import { DAY_SECONDS } from '../lab/history.ts';
import { at, listed, type Question } from '../lab/questions.ts';
import type { BenchContext } from '../lab/run.ts';
import { type IdentityLab, route } from './lab.ts';
import { ABSENT_WORD, BENCH_CHAINS, COMMON_WORD, RARE_TAG, RARE_WORD } from './synthetic.ts';

/** /agents, /agents/{wallet} and /leaderboard. */

const LIMIT = 50;
const [FIRST] = BENCH_CHAINS;
/** Most of what a page may read: granules of its rows in every part, and of the wallets' settlements. */
const PAGE_ROWS_READ = 60_000;
/** Of the agents, read for a search that finds a handful or nothing. */
const SEARCH_PERCENT = 5;
/** Goal of the project's plan for the first page, milliseconds. */
const LEADERBOARD_MS = 100;
const DEEP_RANK = { full: 100_000, quick: 4_000 };

const ON_FIRST = sql`AND chain = ${text(FIRST)}`;
const NEWEST_AGENT_FIRST = sql`chain DESC, agent_id DESC`;

/** Versions are merged before anything is looked at, columns are those that the conditions name. */
function agentScan(condition: Sql, order = NEWEST_AGENT_FIRST, more = empty): Sql {
  return sql`SELECT concat(chain, ' ', toString(agent_id)) FROM (SELECT * FROM agents FINAL)
    WHERE del = 0 ${condition} ORDER BY ${order} LIMIT ${uint32(LIMIT)} ${more}`;
}

export async function agentRoutes(lab: IdentityLab, { sized }: BenchContext): Promise<Question<Sql>[]> {
  return [
    ...(await listRoutes(lab)),
    ...(await profileRoutes(lab)),
    ...(await rankRoutes(lab, sized(DEEP_RANK))),
  ];
}

async function listRoutes(lab: IdentityLab): Promise<Question<Sql>[]> {
  const listing = {
    lines: listed('agents', 'chain', 'agent_id'),
    goals: { rowsReadBelow: PAGE_ROWS_READ },
  };
  const page = (name: string, query: string, condition = empty, more: Partial<Question<Sql>> = {}) =>
    route(`agents-${name}`, `/v0/agents?limit=${LIMIT}&chain=${FIRST}${query}`, {
      scan: agentScan(sql`${ON_FIRST} ${condition}`),
      ...listing,
      ...more,
    });
  const agentId = BigInt(Math.floor(lab.size.agents / 5));
  const deep = mintAgentCursor(lab.api.cursorKeys, 'listAgents', { chain: FIRST, agentId });
  const says = (word: string): Sql =>
    sql`AND (name ILIKE ${text(`%${word}%`)} OR description ILIKE ${text(`%${word}%`)})`;
  const both = sql`${says(COMMON_WORD)} ${says(RARE_WORD)}`;
  const search = { goals: { readOfPeerPercentBelow: SEARCH_PERCENT } };
  const busiest = await pickAgent(lab, sql`owner`, ON_FIRST, sql`ORDER BY count() DESC, owner`);
  const ofOne = await pickAgent(lab, sql`owner`, ON_FIRST, sql`HAVING count() = 1 ORDER BY owner`);
  const owned = (owner: string): Sql => sql`AND owner = unhex(${text(owner.slice(2))})`;
  const able = (slug: string): Sql => sql`AND has(capabilities, ${text(slug)})`;
  return [
    page('first-page', ''),
    route('agents-all-chains', `/v0/agents?limit=${LIMIT}&chain=all`, { ...listing, scan: agentScan(empty) }),
    page('deep-page', `&before=${deep}`, sql`AND agent_id < ${uint32(Number(agentId))}`),
    page('word-rare', `&q=${RARE_WORD}`, says(RARE_WORD), search),
    page('word-absent', `&q=${ABSENT_WORD}`, says(ABSENT_WORD), { ...search, findsNothing: true }),
    page('word-common', `&q=${COMMON_WORD}`, says(COMMON_WORD)),
    page('words-common-and-rare', `&q=${COMMON_WORD}%20${RARE_WORD}`, both, search),
    page('owner-busiest', `&owner=${busiest}`, owned(busiest)),
    page('owner-of-one', `&owner=${ofOne}`, owned(ofOne)),
    ...['web-search', 'legal-and-government'].map((slug) =>
      page(`capability-${slug}`, `&capability=${slug}`, able(slug)),
    ),
  ];
}

async function pickAgent({ engine }: IdentityLab, party: Sql, condition: Sql, choice: Sql): Promise<string> {
  const [picked] = await rowOf(
    engine,
    sql`SELECT concat('0x', lower(hex(${party}))) FROM agents FINAL WHERE del = 0 ${condition} GROUP BY ${party} ${choice} LIMIT 1`,
  );
  return String(picked);
}

/** Agents and settlements of a wallet: one with thousands of agents, one with a single agent that settles, one without any. */
async function profileRoutes(lab: IdentityLab): Promise<Question<Sql>[]> {
  const pick = (choice: Sql) => pickAgent(lab, sql`wallet`, sql`AND wallet != ${NO_ACCOUNT}`, choice);
  const settles = sql`wallet IN (SELECT payee FROM settlements)`;
  const [nobody] = await rowOf(
    lab.engine,
    sql`SELECT concat('0x', lower(hex(payer))) FROM settlements WHERE payer NOT IN (SELECT wallet FROM agents) ORDER BY payer LIMIT 1`,
  );
  const profile = (name: string, wallet: unknown, findsNothing = false) =>
    route(`agent-of-wallet-${name}`, `/v0/agents/${wallet}?chain=all`, {
      ...{ lines: listed('erc8004_agents', 'chain', 'agent_id'), findsNothing },
      // Agents of one wallet may stand in every granule of the table.
      goals: { rowsReadBelow: lab.size.agents },
    });
  return [
    profile('busiest', await pick(sql`ORDER BY count() DESC, wallet`)),
    profile('that-settles', await pick(sql`HAVING ${settles} ORDER BY count(), wallet`)),
    profile('without', nobody, true),
  ];
}

async function rankRoutes({ engine }: IdentityLab, deepRank: number): Promise<Question<Sql>[]> {
  const [scored = 0] = await numbersOf(
    engine,
    sql`SELECT countIf(score IS NOT NULL) FROM agents FINAL WHERE del = 0 ${ON_FIRST}`,
  );
  const isScored = sql`${ON_FIRST} AND score IS NOT NULL`;
  /** Asked for a first time, and again. */
  const ranked = (name: string, offset: number, withUnscored = false, p50Max?: number) =>
    [false, true].map((kept) => {
      const unscored = withUnscored ? '&include_spam=1' : '';
      const path = `/v0/leaderboard?limit=${LIMIT}&chain=${FIRST}&offset=${offset}${unscored}`;
      const order = sql`isNull(score), score DESC, chain, agent_id`;
      return route(`leaderboard-${name}${kept ? '-remembered' : ''}`, path, {
        scan: agentScan(withUnscored ? ON_FIRST : isScored, order, sql`OFFSET ${uint32(offset)}`),
        lines: listed('leaderboard', 'chain', 'agent_id'),
        ...{ kept, goals: { p50Max } },
      });
    });
  return [
    ...ranked('first-page', 0, false, LEADERBOARD_MS),
    ...ranked('deep-page', deepRank),
    ...ranked('border', scored - LIMIT / 2, true),
  ];
}

/** /endpoints, /capabilities and the names on /flows. */

/** The furthest that pages reach by offset. */
const DEEP_OFFSET = { full: 10_000, quick: 2_000 };
/** The catalogue's first and last: one agent in six, one in a hundred. */
const HOT_CAPABILITY = 'web-search';
const COLD_CAPABILITY = 'legal-and-government';
/** A word that a few hundred listings have. */
const USUAL_WORD = 'payments';

/** The directory without `endpoint_list`: offers and what was paid on their terms, looked up at every request. */
function offersScan(condition: Sql, offset = 0): Sql {
  return sql`SELECT concat(resource, ' ', method) FROM (
      SELECT resource, method, paid, payers
      FROM (SELECT *, ifNull(amount, 0) AS terms, extract(resource, '^[a-z]+://[^/?#]+') AS origin
        FROM endpoint_offers FINAL WHERE del = 0 ${condition}) AS offers
      LEFT JOIN (SELECT pay_to, chain, asset, amount AS terms, origin, settlement_count AS paid, unique_payers AS payers
        FROM offer_activity FINAL WHERE del = 0) AS activity USING (pay_to, chain, asset, terms, origin))
    GROUP BY resource, method ORDER BY argMax(paid, (payers, paid)) DESC, resource, method LIMIT ${uint32(LIMIT)} OFFSET ${uint32(offset)}`;
}

const saying = (word: string): Sql =>
  sql`AND position(lowerUTF8(concat(resource, ' ', service_name, ' ', description, ' ', arrayStringConcat(tags, ' '))), ${text(word)}) > 0`;
const offering = (slug: string): Sql => sql`AND has(capabilities, ${text(slug)})`;

export async function directoryRoutes({ size }: IdentityLab, { sized }: BenchContext) {
  const deep = sized(DEEP_OFFSET);
  // Narrow columns of every resource, and a granule for each row of the page.
  const goals = { rowsReadBelow: size.resources * 1.5 };
  const whole = { goals: { ...goals, engineFasterThanPeer: 3 } };
  const endpoints = (name: string, query: string, scan: Sql, more: Partial<Question<Sql>> = {}) =>
    route(`endpoints-${name}`, `/v0/endpoints?limit=${LIMIT}${query}`, {
      ...{ lines: listed('endpoints', 'resource', 'method'), scan, goals, ...more },
    });
  return [
    endpoints('first-page', '', offersScan(empty), whole),
    endpoints('deep-page', `&offset=${deep}`, offersScan(empty, deep), whole),
    endpoints('word-usual', `&q=${USUAL_WORD}`, offersScan(saying(USUAL_WORD))),
    endpoints('word-common', `&q=${COMMON_WORD}`, offersScan(saying(COMMON_WORD))),
    endpoints('word-absent', `&q=${ABSENT_WORD}`, offersScan(saying(ABSENT_WORD)), { findsNothing: true }),
    endpoints('capability', `&capability=${COLD_CAPABILITY}`, offersScan(offering(COLD_CAPABILITY))),
    ...capabilityRoutes(size),
    ...nameRoutes(),
  ];
}

function capabilityRoutes(size: IdentityLab['size']): Question<Sql>[] {
  const lines = listed('capabilities', 'slug');
  // All offers and agents; what is left of it within half a minute.
  const counting = (size.resources + size.agents) * 1.2;
  const remembering = size.resources * 2.5;
  const list = (name: string, kept: boolean, rowsReadBelow: number) =>
    route(`capabilities-${name}`, '/v0/capabilities', { lines, kept, goals: { rowsReadBelow } });
  return [
    list('counted', false, counting),
    list('remembered', true, 10_000),
    ...[HOT_CAPABILITY, COLD_CAPABILITY].flatMap((slug) => [
      route(`capability-${slug}-counted`, `/v0/capabilities/${slug}?limit=${LIMIT}`, {
        scan: offersScan(offering(slug)),
        lines: listed('offers', 'resource', 'method'),
        goals: { rowsReadBelow: counting + remembering },
      }),
      route(`capability-${slug}-remembered`, `/v0/capabilities/${slug}?limit=${LIMIT}`, {
        // `agents` of an answer about a capability: at most 20.
        scan: sql`SELECT concat(chain, ' ', toString(agent_id)) FROM (SELECT * FROM agents FINAL)
          WHERE del = 0 AND active = 1 ${offering(slug)} ORDER BY feedback_count DESC, chain, agent_id LIMIT 20`,
        lines: listed('agents', 'chain', 'agent_id'),
        kept: true,
        goals: { rowsReadBelow: remembering },
      }),
    ]),
  ];
}

function nameRoutes(): Question<Sql>[] {
  const lines = (body: unknown): string[] =>
    (at(body, 'flows') as readonly unknown[]) // our own API
      .flatMap((row) => [at(row, 'payer_name'), at(row, 'payee_name')])
      .filter((name) => name !== null)
      .map(String);
  const path = '/v0/flows?limit=100'; // nearly all parties are different wallets
  return [
    route('flows-names-cold', path, { lines, goals: { rowsReadBelow: 250_000 } }),
    route('flows-names-remembered', path, { lines, kept: true, goals: { rowsReadBelow: 50_000 } }),
  ];
}

/** /attestations. */

/** As pages of /flows; of an agent or a client as pages of a wallet. */
const ATTESTATION_ROWS_READ = 50_000;
const FILTERED_ROWS_READ = 150_000;
const LAST_WRITTEN_FIRST = sql`ORDER BY block_time DESC, chain DESC, block_number DESC, log_index DESC`;

function attestations(
  name: string,
  query: string,
  condition: Sql,
  rowsReadBelow = FILTERED_ROWS_READ,
  chain = ON_FIRST,
) {
  const path = `/v0/attestations?limit=${LIMIT}&chain=${chain === empty ? 'all' : FIRST}${query}`;
  return route(`attestations-${name}`, path, {
    scan: sql`SELECT concat(chain, ' 0x', lower(hex(tx_hash)), ' ', toString(log_index)) FROM (SELECT * FROM attestations FINAL)
      WHERE del = 0 ${chain} ${condition} ${LAST_WRITTEN_FIRST} LIMIT ${uint32(LIMIT)}`,
    lines: listed('attestations', 'chain', 'tx_hash', 'log_index'),
    goals: { rowsReadBelow },
  });
}

export async function attestationRoutes(lab: IdentityLab): Promise<Question<Sql>[]> {
  const agents = await pickParty(lab, sql`agent_id`, sql`toString(agent_id)`);
  const clients = await pickParty(lab, sql`client`, sql`concat('0x', lower(hex(client)))`);
  const deep = await deepAttestation(lab);
  const tagged = (tag: string): Sql => sql`AND (tag1 = ${text(tag)} OR tag2 = ${text(tag)})`;
  return [
    attestations('first-page', '', empty, ATTESTATION_ROWS_READ),
    attestations('all-chains', '', empty, ATTESTATION_ROWS_READ, empty),
    attestations('deep-page', `&before=${deep.cursor}`, sql`AND ${deep.below}`, ATTESTATION_ROWS_READ),
    ...agents.map(([name, id]) =>
      attestations(`agent-${name}`, `&agent_id=${id}`, sql`AND agent_id = toUInt256(${text(id)})`),
    ),
    ...clients.map(([name, client]) =>
      attestations(`client-${name}`, `&client=${client}`, sql`AND client = unhex(${text(client.slice(2))})`),
    ),
    attestations('tag-usual', '&tag=tag-5', tagged('tag-5')),
    attestations('tag-rare', `&tag=${RARE_TAG}`, tagged(RARE_TAG)),
    attestations('revocations', '&kind=revocation', sql`AND kind = 'revocation'`),
  ];
}

/** The party with the most rows, and one with up to three. */
async function pickParty({ engine }: IdentityLab, party: Sql, shown: Sql) {
  const [hot, cold] = await rowOf(
    engine,
    sql`SELECT argMax(shown, n), argMinIf(shown, shown, n <= 3) FROM (
      SELECT ${shown} AS shown, count() AS n FROM (SELECT * FROM attestations FINAL) WHERE del = 0 AND kind = 'feedback' ${ON_FIRST} GROUP BY ${party})`,
  );
  return Object.entries({ hot: String(hot), cold: String(cold) });
}

/** A row in the middle of the list. */
async function deepAttestation({ api, engine, noon }: IdentityLab) {
  const [blockTime = 0, blockNumber = 0, logIndex = 0] = await numbersOf(
    engine,
    sql`SELECT toUnixTimestamp(block_time), block_number, log_index FROM attestations FINAL
      WHERE del = 0 ${ON_FIRST} AND block_time <= toDateTime(${uint32(noon - 60 * DAY_SECONDS)}, 'UTC') ${LAST_WRITTEN_FIRST} LIMIT 1`,
  );
  const position = { blockTime, chain: FIRST, blockNumber, logIndex };
  return {
    cursor: mintCursor(api.cursorKeys, 'listAttestations', position),
    below: sql`(block_time, block_number, log_index) < (toDateTime(${uint32(blockTime)}, 'UTC'), ${uint32(blockNumber)}, ${uint32(logIndex)})`,
  };
}
