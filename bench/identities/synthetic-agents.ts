import { type Sql, sql, texts, trustedText, uint32, uint64 } from '../../clickhouse/engine/sql.ts';
import { CAPABILITIES } from '../../core/domain/capability.ts';
import { syntheticAddress } from '../support/synthetic-rows.ts';
import { description, logUniform, words } from './synthetic-words.ts';

/**
 * Agents made inside the engine, seven of ten on Base, the others on Polygon, ids rising with registration. 27 % have an empty
 * URI (ERC-8004); of the others four of five have a card. Owners are log-uniform, so that the busiest has thousands of
 * agents; an agent's wallet is its owner's, its own, shared with other agents, or that of a payee in the index.
 */
export interface Agents {
  readonly agents: number;
  /** Unix seconds, of the first registration. */
  readonly firstTime: number;
  /** Seconds from the first registration to the last. */
  readonly seconds: number;
}

/** Unix seconds at block 20,000,000; a block every two seconds. */
export function blockAt(time: Sql, firstTime: number): Sql {
  return sql`toUInt64(20000000 + intDiv(${time} - ${uint32(firstTime)}, 2))`;
}

export const BENCH_CHAINS = ['eip155:8453', 'eip155:137'] as const;
const PER_TEN_OF_FIRST = 7;
const EMPTY_URI_PERCENT = 27;

/** Of the payees those that are paid most. */
const PAID_WALLETS = 5_000;

const N = trustedText('n');
/** The n-th agent, as the key of its rows. */
export const AGENT_CHAIN: Sql = sql`if(n % 10 < ${uint32(PER_TEN_OF_FIRST)}, ${texts(BENCH_CHAINS)}[1], ${texts(BENCH_CHAINS)}[2])`;
export const AGENT_ID: Sql = sql`toUInt256(if(n % 10 < ${uint32(PER_TEN_OF_FIRST)}, intDiv(n, 10) * ${uint32(PER_TEN_OF_FIRST)} + n % 10,
  intDiv(n, 10) * ${uint32(10 - PER_TEN_OF_FIRST)} + n % 10 - ${uint32(PER_TEN_OF_FIRST)}))`;

const HAS_URI = sql`sipHash64(n, 1) % 100 >= ${uint32(EMPTY_URI_PERCENT)}`;
const URI = sql`if(${HAS_URI}, concat('https://agents.example/', toString(n), '/card.json'), '')`;

function owner({ agents }: Agents): Sql {
  return sql`SHA1(concat('owner', toString(${logUniform(N, 2, Math.ceil(agents / 2))})))`;
}

/** One in eight is paid for something, one in eight shares with others. */
function wallet({ agents }: Agents): Sql {
  return sql`multiIf(
    sipHash64(n, 3) % 8 = 0, ${syntheticAddress('payee', sql`1 + sipHash64(n, 4) % ${uint32(PAID_WALLETS)}`)},
    sipHash64(n, 3) % 8 = 1, SHA1(concat('shared wallet', toString(${logUniform(N, 5, Math.ceil(agents / 4))}))),
    SHA1(concat('wallet', toString(n))))`;
}

interface EventKind {
  readonly kind: string;
  /** Which agents have such an event. */
  readonly of: Sql;
  readonly account: (agents: Agents) => Sql;
  readonly text: Sql;
  readonly data: Sql;
  /** Place in the transaction of the registration, whose logs are in this order. */
  readonly place: number;
}

const NOBODY = (): Sql => sql`toFixedString('', 20)`;
const NOTHING = sql`''`;

const EVENT_KINDS: readonly EventKind[] = [
  { kind: 'registered', of: sql`1`, account: owner, text: URI, data: NOTHING, place: 0 },
  {
    kind: 'metadata_set',
    of: sql`sipHash64(n, 6) % 20 = 0`,
    account: NOBODY,
    text: sql`'kind'`,
    data: sql`'bench'`,
    place: 1,
  },
  {
    kind: 'wallet_set',
    of: sql`sipHash64(n, 7) % 100 < 40`,
    account: wallet,
    text: NOTHING,
    data: NOTHING,
    place: 2,
  },
  {
    kind: 'uri_updated',
    of: sql`sipHash64(n, 8) % 10 = 0 AND ${HAS_URI}`,
    account: owner,
    text: URI,
    data: NOTHING,
    place: 3,
  },
];

/** Statements that write the events of agents `[from, from + count)`, each the same rows whenever it runs. */
export function insertEvents(
  agents: Agents,
  slice: { readonly from: number; readonly count: number; readonly ver: bigint },
): Sql[] {
  const { firstTime, seconds } = agents;
  const time = sql`toUInt32(${uint32(firstTime)} + n * (${uint32(seconds)} / ${uint32(agents.agents)}))`;
  return EVENT_KINDS.map(
    ({ kind, of, account, text, data, place }) => sql`INSERT INTO agent_events
      (chain, agent_id, block_number, log_index, block_time, block_hash, tx_hash, kind, account, text, data, ver, del)
      SELECT ${AGENT_CHAIN}, ${AGENT_ID}, ${blockAt(sql`ts`, firstTime)} AS block, toUInt32(n % 100 * 10 + ${uint32(place)}), toDateTime(ts, 'UTC'),
        SHA256(concat('block', toString(block))), SHA256(concat('registration', toString(n))),
        ${trustedText(`'${kind}'`)}, ${account(agents)}, ${text}, ${data}, ${uint64(slice.ver)}, 0
      FROM (SELECT number + ${uint64(slice.from)} AS n, ${time} AS ts FROM numbers(${uint64(slice.count)})) WHERE ${of}`,
  );
}

const SLUGS = CAPABILITIES.map(({ slug }) => slug);
/** As many agents as carry none carry one, two and three of them; the first ones of the catalogue most often. */
export function capabilities(purpose: number): Sql {
  return sql`arrayDistinct(arrayMap(place -> ${texts(SLUGS)}[toUInt32(exp(sipHash64(n, ${uint32(purpose)}, place) / 18446744073709551616. * ln(${uint32(SLUGS.length + 1)})))],
    range(sipHash64(n, ${uint32(purpose)}) % 4)))`;
}

const SERVICES = sql`concat('[{"name":"MCP","endpoint":"https://agents.example/', toString(n), '/mcp","version":"2025-06-18","skills":[],"domains":[]},',
  '{"name":"A2A","endpoint":"https://agents.example/', toString(n), '/.well-known/agent-card.json","version":"0.3.0","skills":[],"domains":[]}]')`;

/** The newest try of every card that has a URI: three of four are good, one of sixteen failed after it was good. */
export function insertCards(
  { agents, firstTime, seconds }: Agents,
  slice: { readonly from: number; readonly count: number; readonly ver: bigint },
): Sql {
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
