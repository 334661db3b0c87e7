import {
  accountBytes,
  accountText,
  addressBytes,
  transactionText,
} from '../../../clickhouse/engine/account.ts';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import {
  addressField,
  integerField,
  textField,
  transactionField,
} from '../../../clickhouse/engine/row-reader.ts';
import { allOf, type Sql, sql, text, texts, uint32, uint64s } from '../../../clickhouse/engine/sql.ts';
import type { Address } from '../../../core/domain/account.ts';
import type { AttestationKind } from '../../../core/domain/agent.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { ProofOfPayment } from '../../../core/domain/payment.ts';
import type { Position } from '../../../core/domain/settlement.ts';
import { type TagScore, tagScoresField } from '../agents/row.ts';
import { ask } from '../ask.ts';
import { isBelow } from '../settlements/feed.ts';
import { ATTESTATION_COLUMNS, type AttestationRow, decodeAttestation } from './row.ts';

/** What a page of attestations adds to its logs: the agents, what was revoked since, and what the files say. */
export interface AttestationFacts {
  /** '' for an agent without a name. */
  agentName(row: AttestationRow): string;
  /** What all clients said of the agent under the row's tag1; undefined where it keeps no score of it. */
  tagScore(row: AttestationRow): TagScore | undefined;
  isRevoked(row: AttestationRow): boolean;
  /** Undefined where no file is named, or none of this kind is fetched. */
  file(row: AttestationRow): FeedbackFileState | undefined;
}

export interface FeedbackFileState {
  /** new: not tried yet; good: read; failed: the newest try. */
  readonly status: 'new' | 'good' | 'failed';
  /** Why it failed; of a good one how it contradicts its log. '' for neither. */
  readonly problem: string;
  /** Of a good one: whether it has the hash that was logged; true as well where none was. */
  readonly hashMatches: boolean;
  readonly proof: ProofOfPayment | null;
  /** Cleaned when it was fetched; '' for none. */
  readonly comment: string;
}

const MAX_SECONDS = 10;

export async function readAttestationFacts(
  reader: Reader,
  rows: readonly AttestationRow[],
): Promise<AttestationFacts> {
  const feedback = rows.filter(({ kind }) => kind === 'feedback');
  const [agents, revoked, files] = await Promise.all([
    readAgentFacts(reader, rows),
    readRevoked(reader, feedback),
    readFiles(
      reader,
      feedback.filter(({ uri }) => uri !== ''),
    ),
  ]);
  return {
    agentName: (row) => agents.get(agentOf(row))?.name ?? '',
    tagScore: (row) => agents.get(agentOf(row))?.tagScores.find(({ tag }) => tag === row.tag1),
    isRevoked: (row) => revoked.has(feedbackOf(row)),
    file: (row) =>
      row.kind === 'feedback' && row.uri !== '' ? (files.get(placeOf(row)) ?? NEW_FILE) : undefined,
  };
}

/** Its log was indexed a moment ago. */
const NEW_FILE: FeedbackFileState = {
  status: 'new',
  problem: '',
  hashMatches: false,
  proof: null,
  comment: '',
};

type AgentKey = Pick<AttestationRow, 'chain' | 'agentId'>;

function agentOf({ chain, agentId }: AgentKey): string {
  return `${chain} ${agentId}`;
}

function feedbackOf(row: Pick<AttestationRow, 'chain' | 'agentId' | 'client' | 'feedbackIndex'>): string {
  return `${agentOf(row)} ${row.client} ${row.feedbackIndex}`;
}

function placeOf({ chain, blockNumber, logIndex }: AttestationRow): string {
  return `${chain} ${blockNumber} ${logIndex}`;
}

/** A set of (chain, agent_id), each once. */
function agentSet(rows: readonly AgentKey[]): Sql {
  const distinct = [...new Map(rows.map((row) => [agentOf(row), row])).values()];
  const chains = texts(distinct.map(({ chain }) => chain));
  const ids = texts(distinct.map(({ agentId }) => String(agentId)));
  return sql`(SELECT agent.1, toUInt256(agent.2) FROM (SELECT arrayJoin(arrayZip(${chains}, ${ids})) AS agent))`;
}

interface AgentFacts {
  readonly name: string;
  readonly tagScores: readonly TagScore[];
}

async function readAgentFacts(
  reader: Reader,
  rows: readonly AttestationRow[],
): Promise<ReadonlyMap<string, AgentFacts>> {
  if (rows.length === 0) return new Map();
  const found = await ask(reader, 'agents', {
    name: 'attestations-agents',
    maxSeconds: MAX_SECONDS,
    maxRows: rows.length,
    sql: sql`SELECT chain, toString(agent_id), name, tag_scores
      FROM (SELECT chain, agent_id, name, tag_scores, del FROM agents FINAL WHERE (chain, agent_id) IN ${agentSet(rows)}) WHERE del = 0`,
  });
  return new Map(
    found.rows.map(([chain, agentId, name, tagScores]) => [
      `${textField(chain)} ${textField(agentId)}`,
      { name: textField(name), tagScores: tagScoresField(tagScores) },
    ]),
  );
}

/** Which feedback of a page was revoked, by the key of the table of revocations. */
async function readRevoked(
  reader: Reader,
  feedback: readonly AttestationRow[],
): Promise<ReadonlySet<string>> {
  if (feedback.length === 0) return new Set();
  const { rows } = await ask(reader, ATTESTATIONS_RESOURCE, {
    name: 'attestations-revoked',
    maxSeconds: MAX_SECONDS,
    maxRows: feedback.length,
    sql: sql`SELECT DISTINCT chain, toString(agent_id), ${accountText('client')}, toString(feedback_index)
      FROM (SELECT * FROM feedback_revocations FINAL
        WHERE (chain, agent_id, client, feedback_index) IN ${feedbackSet(feedback)}) WHERE del = 0`,
  });
  return new Set(
    rows.map(([chain, agentId, client, index]) =>
      [textField(chain), textField(agentId), textField(client), textField(index)].join(' '),
    ),
  );
}

function feedbackSet(feedback: readonly AttestationRow[]): Sql {
  const chains = texts(feedback.map(({ chain }) => chain));
  const clients = texts(feedback.map(({ client }) => client));
  const ids = texts(feedback.map(({ agentId }) => String(agentId)));
  const indexes = uint64s(feedback.map(({ feedbackIndex }) => feedbackIndex));
  return sql`(SELECT given.1, toUInt256(given.2), ${accountBytes(sql`given.3`)}, given.4
    FROM (SELECT arrayJoin(arrayZip(${chains}, ${ids}, ${clients}, ${indexes})) AS given))`;
}

async function readFiles(
  reader: Reader,
  feedback: readonly AttestationRow[],
): Promise<ReadonlyMap<string, FeedbackFileState>> {
  if (feedback.length === 0) return new Map();
  const chains = texts(feedback.map(({ chain }) => chain));
  const numbers = uint64s(feedback.map(({ blockNumber }) => blockNumber));
  const indexes = uint64s(feedback.map(({ logIndex }) => logIndex));
  const places = sql`(SELECT place.1, place.2, toUInt32(place.3)
    FROM (SELECT arrayJoin(arrayZip(${chains}, ${numbers}, ${indexes})) AS place))`;
  const { rows } = await ask(reader, ATTESTATIONS_RESOURCE, {
    name: 'attestations-files',
    maxSeconds: MAX_SECONDS,
    maxRows: feedback.length,
    sql: sql`SELECT chain, block_number, log_index, toString(status), problem, hash_matches, proof_chain, ${transactionText('proof_tx')},
        ${accountText('proof_from')}, ${accountText('proof_to')}, comment
      FROM (SELECT * FROM feedback_files FINAL WHERE (chain, block_number, log_index) IN ${places}) WHERE del = 0`,
  });
  return new Map(
    rows.map((row) => [
      `${textField(row[0])} ${integerField(row[1])} ${integerField(row[2])}`,
      {
        status: textField(row[3]) as FeedbackFileState['status'], // the column's enum
        problem: textField(row[4]),
        hashMatches: integerField(row[5]) === 1,
        proof: proofField(row),
        comment: textField(row[10]),
      },
    ]),
  );
}

function proofField(row: readonly unknown[]): ProofOfPayment | null {
  const chain = textField(row[6]);
  if (chain === '') return null;
  return {
    chain,
    txHash: transactionField(row[7]),
    from: addressField(row[8]),
    to: addressField(row[9]),
  };
}

/**
 * One page of the registries' feedback, responses, revocations and validations, newest first, in two steps. The first reads the
 * sort keys of rows that match, in the order of the table and without merging their versions, so it ends as soon as it has
 * enough; rare matches are found by the indexes. Whatever matches now is among them, because its newest version does. The second
 * merges the versions of these keys alone and keeps what still matches.
 */

interface AttestationQuery {
  /** Rows wanted, 1 to 100. */
  readonly limit: number;
  readonly before: Position | undefined;
  /** At least one. */
  readonly chains: readonly Chain[];
  readonly agentId: bigint | undefined;
  /** Whose feedback it is, or is about. */
  readonly client: Address | undefined;
  /** Either tag, as it was logged. */
  readonly tag: string | undefined;
  readonly kind: AttestationKind | undefined;
}

interface AttestationPage {
  readonly rows: readonly AttestationRow[];
  /** Where the next page starts; undefined at the end of the list. */
  readonly nextBefore: Position | undefined;
}

const ATTESTATIONS_RESOURCE = 'attestations';
/** Versions that are not merged yet, and rows that matched once: a few more than the page wants. */
const SPARE_KEYS = 16;
const KEYS_GROWTH = 4;
const KEYS_MAX = 2_000;
/** Reached where long runs of rows were retracted or replaced: the page then ends early, with a cursor to go on from. */
const ROUNDS_MAX = 6;

export async function readAttestations(reader: Reader, query: AttestationQuery): Promise<AttestationPage> {
  const wanted = query.limit + 1;
  const rows: AttestationRow[] = [];
  let before = query.before;
  let keysWanted = wanted + SPARE_KEYS;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const keys = await readKeys(reader, query, before, keysWanted);
    rows.push(...(await readRows(reader, query, keys, wanted - rows.length)));
    if (rows.length === wanted) {
      const page = rows.slice(0, query.limit);
      return { rows: page, nextBefore: page.at(-1) };
    }
    if (keys.length < keysWanted) return { rows, nextBefore: undefined };
    before = keys.at(-1);
    keysWanted = Math.min(keysWanted * KEYS_GROWTH, KEYS_MAX);
  }
  return { rows, nextBefore: before };
}

/** The table whose order fits: by agent where one is asked for, else by time. */
function tableOf({ agentId }: AttestationQuery): Sql {
  return agentId === undefined ? sql`attestations` : sql`agent_attestations`;
}

/** Conditions on the sort key: they may be applied before versions are merged. */
function keyConditions({ chains, agentId }: AttestationQuery): Sql[] {
  const [only] = chains;
  return [
    // One chain by equality: only then may the engine read the rows behind it in their order.
    chains.length === 1 && only !== undefined ? sql`chain = ${text(only)}` : sql`chain IN ${texts(chains)}`,
    ...(agentId === undefined ? [] : [sql`agent_id = toUInt256(${text(String(agentId))})`]),
  ];
}

/** Newest first, spelled as the table is ordered where that is the same: an agent may have a million ratings. */
function orderOf({ chains, agentId }: AttestationQuery): Sql {
  return chains.length === 1 && agentId !== undefined
    ? sql`chain DESC, agent_id DESC, block_time DESC, block_number DESC, log_index DESC`
    : sql`block_time DESC, chain DESC, block_number DESC, log_index DESC`;
}

/** A reorg can put another log in the place of a row, so these hold for the newest version only. */
function rowConditions({ client, tag, kind }: AttestationQuery): Sql[] {
  return [
    sql`del = 0`,
    ...(client === undefined ? [] : [sql`client = ${addressBytes(client)}`]),
    ...(tag === undefined ? [] : [sql`has([tag1, tag2], ${text(tag)})`]),
    ...(kind === undefined ? [] : [sql`kind = ${text(kind)}`]),
  ];
}

/** Plain rows: over distinct ones the engine would read to the end of the table. */
async function readKeys(
  reader: Reader,
  query: AttestationQuery,
  before: Position | undefined,
  limit: number,
): Promise<Position[]> {
  const below = before === undefined ? [] : [isBelow(before)];
  const { rows } = await ask(reader, ATTESTATIONS_RESOURCE, {
    name: 'attestations-keys',
    maxSeconds: MAX_SECONDS,
    maxRows: limit,
    settings: { read_in_order_use_virtual_row: 1 },
    sql: sql`SELECT toUnixTimestamp(block_time), chain, block_number, log_index FROM ${tableOf(query)}
      WHERE ${allOf([...below, ...keyConditions(query), ...rowConditions(query)])}
      ORDER BY ${orderOf(query)} LIMIT ${uint32(limit)}`,
  });
  return rows.map((row) => ({
    blockTime: integerField(row[0]),
    chain: textField(row[1]) as Chain, // written by ingest from `Chain` values only
    blockNumber: integerField(row[2]),
    logIndex: integerField(row[3]),
  }));
}

async function readRows(
  reader: Reader,
  query: AttestationQuery,
  keys: readonly Position[],
  limit: number,
): Promise<AttestationRow[]> {
  if (keys.length === 0) return [];
  const among = [
    ...keyConditions(query),
    sql`(block_time, chain, block_number, log_index) IN ${positions(keys)}`,
  ];
  const { rows } = await ask(reader, ATTESTATIONS_RESOURCE, {
    name: 'attestations-rows',
    maxSeconds: MAX_SECONDS,
    maxRows: limit,
    settings: { do_not_merge_across_partitions_select_final: 1 },
    sql: sql`SELECT ${ATTESTATION_COLUMNS} FROM (SELECT * FROM ${tableOf(query)} FINAL WHERE ${allOf(among)})
      WHERE ${allOf(rowConditions(query))}
      ORDER BY block_time DESC, chain DESC, block_number DESC, log_index DESC LIMIT ${uint32(limit)}`,
  });
  return rows.map(decodeAttestation);
}

/** A set of sort keys that the engine looks up in the primary index. */
function positions(keys: readonly Position[]): Sql {
  const times = uint64s(keys.map(({ blockTime }) => blockTime));
  const chains = texts(keys.map(({ chain }) => chain));
  const numbers = uint64s(keys.map(({ blockNumber }) => blockNumber));
  const indexes = uint64s(keys.map(({ logIndex }) => logIndex));
  return sql`(SELECT toDateTime(key.1, 'UTC'), key.2, key.3, toUInt32(key.4)
    FROM (SELECT arrayJoin(arrayZip(${times}, ${chains}, ${numbers}, ${indexes})) AS key))`;
}
