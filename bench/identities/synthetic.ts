import { NO_ACCOUNT } from '../../clickhouse/engine/account.ts';
import {
  type Sql,
  sql,
  text,
  texts,
  trustedText,
  uint8,
  uint32,
  uint64,
} from '../../clickhouse/engine/sql.ts';
import type { RATING_TAGS } from '../../core/domain/agent.ts';
import { CAPABILITIES } from '../../core/domain/capability.ts';
import { type RowSlice, SYNTHETIC_PAYEES, syntheticAddress, syntheticBytes } from '../lab/synthetic-rows.ts';

/**
 * Words of names and descriptions, made inside the engine: log-uniform ranks over 4,000 words, so that one word in twelve is the
 * commonest one, as in real prose. The first ones are words that agents' cards are full of, the others are syllables.
 */

const WORDS = 4_000;
/** By rank. `COMMON_WORD` is the first, in most of the texts. */
const FREQUENT =
  `agent the for and data with your trading assistant on autonomous market analysis chain token service api research real
time wallet defi content search price automation image x402 payments tools`.split(/\s/);
const SYLLABLES =
  `ba ce di fo gu ka le mi no pu ra se ti vo xu za bre cli dro fra gle kri plo sta tre vin mar sol ten rix`.split(
    ' ',
  );

/** In the words of most cards. */
export const COMMON_WORD = 'agent';
/** In the descriptions of one agent in 31,250 that has a card. */
export const RARE_WORD = 'xylotheque';
/** In none. */
export const ABSENT_WORD = 'qwertzuiopuel';
const RARE_EVERY = 31_250;
const RARE_EVERY_QUICK_ROWS = 100_000;

/** `[0, 1)`, by row and purpose. */
function uniform(row: Sql, purpose: number): Sql {
  return sql`(sipHash64(${row}, ${uint32(purpose)}) / 18446744073709551616.)`;
}

/** 1 to `ranks`, the k-th as often as 1/k: a few are in most of the rows, most are in a few. */
function logUniform(row: Sql, purpose: number, ranks: number): Sql {
  return sql`toUInt32(exp(${uniform(row, purpose)} * ln(${uint32(ranks)})))`;
}

/** `atLeast` to `atLeast + spread - 1` words, other ones for each row and purpose. */
function words(row: Sql, purpose: number, atLeast: number, spread: number): Sql {
  const syllable = (turn: number): Sql =>
    sql`${texts(SYLLABLES)}[1 + sipHash64(rank, ${uint32(turn)}) % ${uint32(SYLLABLES.length)}]`;
  const made = sql`concat(${syllable(1)}, ${syllable(2)}, if(rank % 3 = 0, '', ${syllable(3)}))`;
  const word = sql`if(rank <= ${uint32(FREQUENT.length)}, ${texts(FREQUENT)}[rank], ${made})`;
  return sql`arrayStringConcat(arrayMap(rank -> ${word},
    arrayMap(place -> toUInt32(exp(sipHash64(${row}, ${uint32(purpose)}, place) / 18446744073709551616. * ln(${uint32(WORDS)}))),
      range(${uint32(atLeast)} + sipHash64(${row}, ${uint32(purpose)}) % ${uint32(spread)}))), ' ')`;
}

/** The description of agent `row` of `agents`: 8 to 27 words, with the rare one in a handful, in small data too. */
function description(row: Sql, purpose: number, agents: number): Sql {
  const every = agents < RARE_EVERY_QUICK_ROWS ? Math.floor(agents / 16) : RARE_EVERY;
  return sql`concat(${words(row, purpose, 8, 20)}, if(${row} % ${uint32(every)} = 5, ${text(` ${RARE_WORD}`)}, ''))`;
}

/**
 * Agents made inside the engine, seven of ten on Base, the others on Polygon, ids rising with registration. 27 % have an empty
 * URI (ERC-8004); of the others four of five have a card. Owners are log-uniform, so that the busiest has thousands of
 * agents; an agent's wallet is its owner's, its own, shared with other agents, or that of a payee in the index.
 */
export interface Agents {
  readonly agents: number;
  /** Unix seconds, of the first row, and seconds from there to the last. */
  readonly firstTime: number;
  readonly seconds: number;
}

/** Unix seconds at block 20,000,000; a block every two seconds. */
function blockAt(time: Sql, firstTime: number): Sql {
  return sql`toUInt64(20000000 + intDiv(${time} - ${uint32(firstTime)}, 2))`;
}

export const BENCH_CHAINS = ['eip155:8453', 'eip155:137'] as const;
const PER_TEN_OF_FIRST = 7;
const EMPTY_URI_PERCENT = 27;

/** Of the payees those that are paid most. */
const PAID_WALLETS = 5_000;

const N = trustedText('n');
/** The n-th agent, as the key of its rows. */
const AGENT_CHAIN: Sql = sql`if(n % 10 < ${uint32(PER_TEN_OF_FIRST)}, ${texts(BENCH_CHAINS)}[1], ${texts(BENCH_CHAINS)}[2])`;
const AGENT_ID: Sql = sql`toUInt256(if(n % 10 < ${uint32(PER_TEN_OF_FIRST)}, intDiv(n, 10) * ${uint32(PER_TEN_OF_FIRST)} + n % 10,
  intDiv(n, 10) * ${uint32(10 - PER_TEN_OF_FIRST)} + n % 10 - ${uint32(PER_TEN_OF_FIRST)}))`;

const HAS_URI = sql`sipHash64(n, 1) % 100 >= ${uint32(EMPTY_URI_PERCENT)}`;
const URI = sql`if(${HAS_URI}, concat('https://agents.example/', toString(n), '/card.json'), '')`;

function owner({ agents }: Agents): Sql {
  return syntheticBytes('SHA1', sql`concat('owner', toString(${logUniform(N, 2, Math.ceil(agents / 2))}))`);
}

/** One in eight is paid for something, one in eight shares with others. */
function wallet({ agents }: Agents): Sql {
  return sql`multiIf(
    sipHash64(n, 3) % 8 = 0, ${syntheticAddress('payee', sql`1 + sipHash64(n, 4) % ${uint32(PAID_WALLETS)}`)},
    sipHash64(n, 3) % 8 = 1, ${syntheticBytes('SHA1', sql`concat('shared wallet', toString(${logUniform(N, 5, Math.ceil(agents / 4))}))`)},
    ${syntheticBytes('SHA1', sql`concat('wallet', toString(n))`)})`;
}

const NOBODY = (): Sql => NO_ACCOUNT;
const NOTHING = sql`''`;

/** What each agent has on registration, or some have: in the order of the transaction's logs. */
const EVENT_KINDS: readonly (readonly [
  kind: string,
  of: Sql,
  account: (agents: Agents) => Sql,
  text: Sql,
])[] = [
  ['registered', sql`1`, owner, URI],
  ['metadata_set', sql`sipHash64(n, 6) % 20 = 0`, NOBODY, sql`'kind'`],
  ['wallet_set', sql`sipHash64(n, 7) % 100 < 40`, wallet, NOTHING],
  ['uri_updated', sql`sipHash64(n, 8) % 10 = 0 AND ${HAS_URI}`, owner, URI],
];

/** Statements that write the events of agents, each the same rows whenever it runs. */
export function insertEvents(agents: Agents, slice: RowSlice): Sql[] {
  const { firstTime, seconds } = agents;
  const time = sql`toUInt32(${uint32(firstTime)} + n * (${uint32(seconds)} / ${uint32(agents.agents)}))`;
  return EVENT_KINDS.map(
    ([kind, of, account, text], place) => sql`INSERT INTO agent_events
      (chain, agent_id, block_number, log_index, block_time, block_hash, tx_hash, kind, account, text, data, ver, del)
      SELECT ${AGENT_CHAIN}, ${AGENT_ID}, ${blockAt(sql`ts`, firstTime)} AS block, toUInt32(n % 100 * 10 + ${uint32(place)}), toDateTime(ts, 'UTC'),
        SHA256(concat('block', toString(block))), ${syntheticBytes('SHA256', sql`concat('registration', toString(n))`)},
        ${trustedText(`'${kind}'`)} AS kind, ${account(agents)}, ${text}, if(kind = 'metadata_set', 'bench', ''), ${uint64(slice.ver)}, 0
      FROM (SELECT number + ${uint64(slice.from)} AS n, ${time} AS ts FROM numbers(${uint64(slice.count)})) WHERE ${of}`,
  );
}

const SLUGS = CAPABILITIES.map(({ slug }) => slug);
/** As many agents as carry none carry one, two and three of them; the first ones of the catalogue most often. */
function capabilities(purpose: number): Sql {
  return sql`arrayDistinct(arrayMap(place -> ${texts(SLUGS)}[toUInt32(exp(sipHash64(n, ${uint32(purpose)}, place) / 18446744073709551616. * ln(${uint32(SLUGS.length + 1)})))],
    range(sipHash64(n, ${uint32(purpose)}) % 4)))`;
}

const SERVICES = sql`concat('[{"name":"MCP","endpoint":"https://agents.example/', toString(n), '/mcp","version":"2025-06-18","skills":[],"domains":[]},',
  '{"name":"A2A","endpoint":"https://agents.example/', toString(n), '/.well-known/agent-card.json","version":"0.3.0","skills":[],"domains":[]}]')`;

/** The newest try of every card that has a URI: three of four are good, one of sixteen failed after it was good. */
export function insertCards({ agents, firstTime, seconds }: Agents, slice: RowSlice): Sql {
  const fetchedAt = sql`toDateTime(${uint32(firstTime + seconds)}, 'UTC')`;
  const isKnown = sql`sipHash64(n, 20) % 16 < 13`;
  const ifKnown = (value: Sql, otherwise: Sql): Sql => sql`if(${isKnown}, ${value}, ${otherwise})`;
  return sql`INSERT INTO agent_cards
    (chain, agent_id, uri, status, problem, failures, tried_at, next_try_at, good_uri, good_at, name, description, image, services,
     supported_trust, x402_support, active, capabilities, rule_version, claims_agent, domain, domain_proof, ver, del)
    SELECT ${AGENT_CHAIN}, ${AGENT_ID}, ${URI}, if(sipHash64(n, 20) % 16 < 12, 'good', 'failed'), if(sipHash64(n, 20) % 16 < 12, '', 'timeout'), 0,
      ${fetchedAt}, toDateTime(4000000000, 'UTC'), ${ifKnown(URI, NOTHING)}, ${ifKnown(fetchedAt, sql`toDateTime(0, 'UTC')`)},
      ${ifKnown(words(N, 21, 1, 3), NOTHING)}, ${ifKnown(description(N, 22, agents), NOTHING)},
      ${ifKnown(sql`concat('https://agents.example/', toString(n), '.png')`, NOTHING)}, ${ifKnown(SERVICES, NOTHING)},
      ${ifKnown(sql`['reputation']`, sql`CAST([], 'Array(String)')`)}, ${ifKnown(sql`sipHash64(n, 23) % 3 = 0`, sql`0`)},
      sipHash64(n, 24) % 20 != 0, ${ifKnown(capabilities(25), sql`CAST([], 'Array(String)')`)}, 1, 1, 'agents.example', 'unchecked', ${uint64(slice.ver)}, 0
    FROM (SELECT number + ${uint64(slice.from)} AS n FROM numbers(${uint64(slice.count)})) WHERE ${HAS_URI}`;
}

/**
 * Feedback made inside the engine: log-uniform ranks of the two fifths of agents that have any (of 5 million rows the busiest
 * takes 270,000) and of 300,000 clients; of a hundred one is revoked, five are answered, one stands for a validation.
 */
export interface Feedback extends Agents {
  /** Of feedback; revocations, answers and validations come on top. */
  readonly rows: number;
  /** Unix seconds, what block numbers count from. */
  readonly blocksFrom: number;
}

interface FeedbackSlice extends RowSlice {
  /** All of the agent that has the most. */
  readonly busiest?: boolean;
}

const RATED_SHARE = 0.4;
const CLIENTS = 300_000;
const TAGS = 200;
/** In one row in 100,000, never on a row that is revoked or answered. */
export const RARE_TAG = 'bench-rare-tag';
const RARE_TAG_EVERY = 100_000;
const LOGS = 1_000;
/** A prime: times it, ranks are a permutation of all agents in which neighbours in rank are far apart in the table. */
const SPREAD = 48_271;

const I = trustedText('i');

const CLIENT = syntheticBytes('SHA1', sql`concat('client', toString(${logUniform(I, 42, CLIENTS)}))`);

/** One of those that ratings have (core/domain/agent.ts). */
const RATING_TAG: (typeof RATING_TAGS)[number] = 'quality';

/** Half of the rows rate the agent; the others have a tag with a scale of its own, which makes no score. */
const TAG = sql`multiIf(i % ${uint32(RARE_TAG_EVERY)} = 77, ${texts([RARE_TAG])}[1], i % 2 = 0, ${texts([RATING_TAG])}[1], concat('tag-', toString(${logUniform(I, 43, TAGS)})))`;
const FILE = sql`if(sipHash64(i, 44) % 10 = 0, concat('ipfs://bench-', toString(i)), '')`;
/** Good ratings prevail; every fifth is out of five with two decimals. */
const VALUE = sql`if(i % 5 = 0, 100 + sipHash64(i, 45) % 401, 40 + sipHash64(i, 45) % 61)`;
const RESPONDER = syntheticBytes('SHA1', sql`concat('responder', toString(n))`);
const EMPTY = { value: sql`0`, tag: NOTHING, uri: NOTHING };

/** Each so many seconds after the feedback. */
const KINDS = [
  { kind: 'feedback', of: sql`1`, delay: 0, author: CLIENT, value: VALUE, tag: TAG, uri: FILE },
  { kind: 'revocation', of: sql`i % 100 = 50`, delay: 600, author: CLIENT, ...EMPTY },
  { kind: 'response', of: sql`i % 20 = 3`, delay: 1_200, author: RESPONDER, ...EMPTY },
  {
    ...{ kind: 'validation_response', of: sql`i % 100 = 60`, delay: 1_800, author: RESPONDER, ...EMPTY },
    ...{ value: sql`90`, tag: TAG },
  },
] as const;

/** Statements that write rows `[from, from + count)` of feedback with what follows them, the same rows whenever they run. */
export function insertFeedback(feedback: Feedback, slice: FeedbackSlice): Sql[] {
  return KINDS.map((kind, place) => insertKind(feedback, slice, kind, place));
}

function insertKind(
  { agents, rows, firstTime, blocksFrom, seconds }: Feedback,
  { from, count, every = 1, busiest = false, ver, tombstone = false }: FeedbackSlice,
  kind: (typeof KINDS)[number],
  place: number,
): Sql {
  const isFeedback = kind.kind === 'feedback';
  const rank = busiest ? sql`1` : logUniform(I, 41, Math.floor(agents * RATED_SHARE));
  return sql`INSERT INTO attestations
    (block_time, chain, block_number, log_index, block_hash, tx_hash, kind, agent_id, author, client, feedback_index, value, value_decimals,
     tag1, tag2, endpoint, uri, file_hash, request_hash, ver, del)
    SELECT toDateTime(ts, 'UTC'), ${AGENT_CHAIN}, ${blockAt(sql`ts`, blocksFrom)} AS block, toUInt32(i % ${uint32(LOGS)} + ${uint32(place * LOGS)}),
      SHA256(concat('block', toString(block))), ${syntheticBytes('SHA256', sql`concat('feedback', toString(i))`)}, ${trustedText(`'${kind.kind}'`)}, ${AGENT_ID},
      ${kind.author}, ${kind.kind === 'validation_response' ? NO_ACCOUNT : CLIENT}, ${kind.kind === 'validation_response' ? sql`0` : sql`i + 1`},
      toInt128(${kind.value}), ${isFeedback ? sql`if(i % 5 = 0, 2, 0)` : sql`0`}, ${kind.tag}, ${isFeedback ? sql`if(i % 3 = 0, 'x402', '')` : NOTHING},
      ${isFeedback ? sql`if(i % 4 = 0, concat('https://agents.example/', toString(n), '/mcp'), '')` : NOTHING}, ${kind.uri},
      toFixedString('', 32), toFixedString('', 32), ${uint64(ver)}, ${uint8(tombstone ? 1 : 0)}
    FROM (
      SELECT i, ((${rank}) * ${uint64(SPREAD)} % ${uint64(agents)}) AS n,
        toUInt32(${uint32(firstTime)} + i * (${uint32(seconds)} / ${uint32(rows)}) + ${uint32(kind.delay)}) AS ts
      FROM (SELECT number + ${uint64(from)} AS i FROM numbers(${uint64(count)})) WHERE i % ${uint32(every)} = 0 AND ${kind.of})`;
}

/**
 * Listings made inside the engine: one way to pay for each resource, a second one for a quarter; paid to addresses that settle. Half of them
 * name a ceiling, which payments of synthetic amounts fit, and all are older than the payments.
 */

const SOURCES = ['bazaar:coinbase', 'bazaar:payai', 'well_known:merchant.example'] as const;
const PAY_TO = sql`concat('0x', lower(hex(${syntheticAddress('payee', logUniform(N, 61, SYNTHETIC_PAYEES))})))`;
/** As in synthetic payments. */
const ASSET = sql`concat('0x', lower(hex(SHA1('usdc'))))`;
const LISTED_BEFORE_DAYS = 400;
const LISTING_TAGS = sql`arrayMap(place -> concat('tag', toString(sipHash64(n, 63, place) % 50)), range(sipHash64(n, 63) % 4))`;

/** `[from, from + count)`: resource n, of which every fourth is also listed for Polygon. */
export function insertOffers(listedAt: number, slice: RowSlice): Sql[] {
  const time = sql`toDateTime(${uint32(listedAt)}, 'UTC')`;
  return [
    { network: 'base', chain: 'eip155:8453', of: sql`1` },
    { network: 'eip155:137', chain: 'eip155:137', of: sql`n % 4 = 0` },
  ].map(
    ({ network, chain, of }) => sql`INSERT INTO endpoint_offers
      (resource, method, source, network, scheme, asset, pay_to, chain, amount, price_usd, max_timeout_seconds, service_name, description,
       mime_type, tags, capabilities, rule_version, last_updated, first_seen, offer_id, content_id, ver, del)
      SELECT concat('https://api', toString(sipHash64(n, 60) % 20000), '.example/v1/', toString(n)) AS url, if(n % 3 = 0, 'POST', 'GET'),
        ${texts(SOURCES)}[1 + n % 3], ${trustedText(`'${network}'`)}, if(n % 2 = 0, 'upto', 'exact'), ${ASSET}, ${PAY_TO},
        ${trustedText(`'${chain}'`)}, toUInt256(toUInt64(exp(6 + sipHash64(n, 62) / 18446744073709551616. * 9)) AS atomic), toDecimal128(atomic / 1e6, 6),
        60, ${words(N, 64, 1, 3)}, ${words(N, 65, 5, 15)}, 'application/json', ${LISTING_TAGS}, ${capabilities(66)}, 1, ${time}, ${time} - toIntervalDay(${uint32(LISTED_BEFORE_DAYS)}),
        reinterpretAsUInt128(sipHash128(url)), reinterpretAsUInt128(sipHash128(url, 1)), ${uint64(slice.ver)}, 0
      FROM (SELECT number + ${uint64(slice.from)} AS n FROM numbers(${uint64(slice.count)})) WHERE ${of}`,
  );
}

/** The sources as they answered last, a moment ago. */
export function insertSources(time: number, ver: bigint): Sql {
  const at = sql`toDateTime(${uint32(time)}, 'UTC')`;
  return sql`INSERT INTO endpoint_sources (source, kind, host, tried_at, good_at, problem, items, ver, del)
    SELECT arrayJoin(${texts(SOURCES)}) AS name, if(startsWith(name, 'bazaar'), 'bazaar', 'well_known'), 'bench.example', ${at}, ${at}, '', 1, ${uint64(ver)}, 0`;
}
