import { empty, type Sql, sql, text, uint32 } from '../../clickhouse/engine/sql.ts';
import type { Chain } from '../../core/domain/chains.ts';
import { mintCursor } from '../../core/domain/cursor.ts';
import type { RouteQuestion } from './ask-route.ts';
import { type IdentityLab, oneRow } from './lab.ts';
import { BENCH_CHAINS } from './synthetic-agents.ts';
import { RARE_TAG } from './synthetic-feedback.ts';

/** /attestations. */

const LIMIT = 50;
const [FIRST] = BENCH_CHAINS;
/** As pages of /flows; of an agent or a client as pages of a wallet. */
const PAGE_ROWS_READ = 50_000;
const FILTERED_ROWS_READ = 150_000;

interface Body {
  readonly attestations: readonly {
    readonly chain: string;
    readonly tx_hash: string;
    readonly log_index: number;
  }[];
}

const ON_FIRST = sql`AND chain = ${text(FIRST)}`;

function scanOf(condition: Sql): Sql {
  return sql`SELECT concat(chain, ' 0x', lower(hex(tx_hash)), ' ', toString(log_index)) FROM (SELECT * FROM attestations FINAL)
    WHERE del = 0 ${condition} ORDER BY block_time DESC, chain DESC, block_number DESC, log_index DESC LIMIT ${uint32(LIMIT)}`;
}

function listed(name: string, query: string, condition: Sql, rowsReadBelow: number): RouteQuestion {
  return {
    name: `attestations-${name}`,
    asks: [{ path: `/v0/attestations?limit=${LIMIT}${query}`, scan: scanOf(condition) }],
    keysOf: (body) =>
      (body as Body).attestations.map((row) => `${row.chain} ${row.tx_hash} ${row.log_index}`), // our own API
    goals: { rowsReadBelow },
  };
}

export async function attestationQuestions(lab: IdentityLab): Promise<RouteQuestion[]> {
  const { agents, clients } = await pickParties(lab);
  const ofAgent = (id: string): Sql => sql`${ON_FIRST} AND agent_id = toUInt256(${text(id)})`;
  const ofClient = (client: string): Sql => sql`${ON_FIRST} AND client = unhex(${text(client.slice(2))})`;
  const deep = await deepPlace(lab);
  const agent = (id: string): string => `&chain=${FIRST}&agent_id=${id}`;
  return [
    listed('first-page', '', ON_FIRST, PAGE_ROWS_READ),
    listed('all-chains', '&chain=all', empty, PAGE_ROWS_READ),
    listed('deep-page', `&before=${deep.cursor}`, sql`${ON_FIRST} AND ${deep.below}`, PAGE_ROWS_READ),
    listed('agent-hot', agent(agents.hot), ofAgent(agents.hot), FILTERED_ROWS_READ),
    listed('agent-cold', agent(agents.cold), ofAgent(agents.cold), FILTERED_ROWS_READ),
    listed('client-hot', `&client=${clients.hot}`, ofClient(clients.hot), FILTERED_ROWS_READ),
    listed('client-cold', `&client=${clients.cold}`, ofClient(clients.cold), FILTERED_ROWS_READ),
    listed(
      'tag-usual',
      '&tag=tag-5',
      sql`${ON_FIRST} AND (tag1 = 'tag-5' OR tag2 = 'tag-5')`,
      FILTERED_ROWS_READ,
    ),
    listed(
      'tag-rare',
      `&tag=${RARE_TAG}`,
      sql`${ON_FIRST} AND (tag1 = ${text(RARE_TAG)} OR tag2 = ${text(RARE_TAG)})`,
      FILTERED_ROWS_READ,
    ),
    listed('revocations', '&kind=revocation', sql`${ON_FIRST} AND kind = 'revocation'`, FILTERED_ROWS_READ),
  ];
}

interface HotAndCold {
  readonly hot: string;
  readonly cold: string;
}

/** The party with the most rows, and parties with up to three. */
async function pickParties(
  lab: IdentityLab,
): Promise<{ readonly agents: HotAndCold; readonly clients: HotAndCold }> {
  const pick = async (party: Sql, shown: Sql): Promise<HotAndCold> => {
    const [hot, cold] = await oneRow(
      lab,
      sql`SELECT argMax(shown, n), argMinIf(shown, shown, n <= 3) FROM (
        SELECT ${shown} AS shown, count() AS n FROM (SELECT * FROM attestations FINAL) WHERE del = 0 AND kind = 'feedback' ${ON_FIRST} GROUP BY ${party})`,
    );
    return { hot: String(hot), cold: String(cold) };
  };
  return {
    agents: await pick(sql`agent_id`, sql`toString(agent_id)`),
    clients: await pick(sql`client`, sql`concat('0x', lower(hex(client)))`),
  };
}

/** A row in the middle of the list. */
async function deepPlace({
  api,
  ...lab
}: IdentityLab): Promise<{ readonly cursor: string; readonly below: Sql }> {
  const [time, block, log] = await oneRow(
    lab,
    sql`SELECT toUnixTimestamp(block_time), block_number, log_index FROM attestations FINAL
      WHERE del = 0 ${ON_FIRST} AND block_time <= toDateTime(${uint32(lab.noon - 60 * 86_400)}, 'UTC')
      ORDER BY block_time DESC, chain DESC, block_number DESC, log_index DESC LIMIT 1`,
  );
  const position = {
    blockTime: Number(time),
    chain: FIRST as Chain,
    blockNumber: Number(block),
    logIndex: Number(log),
  };
  return {
    cursor: mintCursor(api.cursorKeys, 'listAttestations', position),
    below: sql`(block_time, block_number, log_index) < (toDateTime(${uint32(position.blockTime)}, 'UTC'), ${uint32(position.blockNumber)}, ${uint32(position.logIndex)})`,
  };
}
