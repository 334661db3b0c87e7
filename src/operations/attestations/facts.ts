import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { type Sql, sql, texts, uint64s } from '../../../clickhouse/engine/sql.ts';
import type { Address } from '../../../core/domain/address.ts';
import type { ProofOfPayment } from '../../../core/domain/proof-of-payment.ts';
import type { Hash } from '../../../core/domain/settlement.ts';
import { type TagScore, tagScoresField } from '../agents/row.ts';
import { ask } from '../read/ask.ts';
import { integerField, textField } from '../read/decode.ts';
import { ATTESTATIONS_RESOURCE } from './read.ts';
import type { AttestationRow } from './row.ts';

/** What a page of attestations says beside its logs: whom it is about, what was revoked since, and what its files say. */
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
const NEW_FILE: FeedbackFileState = { status: 'new', problem: '', hashMatches: false, proof: null };

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
    sql: sql`SELECT DISTINCT chain, toString(agent_id), lower(hex(client)), toString(feedback_index)
      FROM (SELECT * FROM feedback_revocations FINAL
        WHERE (chain, agent_id, client, feedback_index) IN ${feedbackSet(feedback)}) WHERE del = 0`,
  });
  return new Set(
    rows.map(([chain, agentId, client, index]) =>
      [textField(chain), textField(agentId), `0x${textField(client)}`, textField(index)].join(' '),
    ),
  );
}

function feedbackSet(feedback: readonly AttestationRow[]): Sql {
  const chains = texts(feedback.map(({ chain }) => chain));
  const clients = texts(feedback.map(({ client }) => client.slice(2)));
  const ids = texts(feedback.map(({ agentId }) => String(agentId)));
  const indexes = uint64s(feedback.map(({ feedbackIndex }) => feedbackIndex));
  return sql`(SELECT given.1, toUInt256(given.2), toFixedString(unhex(given.3), 20), given.4
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
    sql: sql`SELECT chain, block_number, log_index, toString(status), problem, hash_matches, proof_chain, lower(hex(proof_tx)),
        lower(hex(proof_from)), lower(hex(proof_to))
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
      },
    ]),
  );
}

function proofField(row: readonly unknown[]): ProofOfPayment | null {
  const chain = textField(row[6]);
  if (chain === '') return null;
  const txHash: Hash = `0x${textField(row[7])}`;
  // 40 hex digits of a FixedString(20)
  return {
    chain,
    txHash,
    from: `0x${textField(row[8])}` as Address,
    to: `0x${textField(row[9])}` as Address,
  };
}
