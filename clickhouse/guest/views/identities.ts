import { expressions } from '../../engine/account.ts';
import { accountText, hashText, known, timeOrNull, transactionText, type ViewBody } from './body.ts';

const SERVICES =
  "'Array(Tuple(name String, endpoint String, version String, skills Array(String), domains Array(String)))'";
/** As ingest/agents/statements.ts writes them: counts negative, for their order. */
const STORED_TAG_SCORES =
  "'Array(Tuple(clients Int64, count Int64, tag String, mean String, is_rating Bool))'";
const TAG_SCORE = `CAST((one.tag, toFloat64OrNull(one.mean), one.is_rating, toUInt64(-one.count), toUInt64(-one.clients)),
  'Tuple(tag String, mean Nullable(Float64), is_rating Bool, feedback_count UInt64, distinct_clients UInt64)')`;

/** Built from its digits: a cast divides two doubles, and its last digit may differ from the API's. */
const decimalAsFloat = (column: string): string => `toFloat64OrNull(toString(t.${column}))`;
const hashOrNull = (column: string): string =>
  `if(t.${column} = ${expressions.noHash}, NULL, ${hashText(column)})`;

export function agentsBody(database: string): ViewBody<'agents'> {
  return {
    columns: {
      owner: accountText('owner'),
      wallet: `if(t.wallet = ${expressions.noAccount}, NULL, ${accountText('wallet')})`,
      agent_uri: known('agent_uri'),
      name: known('name'),
      description: known('description'),
      x402_support: "CAST(t.x402_support, 'Bool')",
      active: "if(t.card_at = toDateTime(0, 'UTC'), NULL, CAST(t.active, 'Bool'))",
      score: decimalAsFloat('score'),
      image: known('image'),
      services: `JSONExtract(t.services, ${SERVICES})`,
      capabilities: "CAST(t.capabilities, 'Array(String)')",
      supported_trust: "CAST(t.supported_trust, 'Array(String)')",
      domain: known('domain'),
      domain_proof: "CAST(t.domain_proof, 'LowCardinality(String)')",
      card_status: "CAST(t.card_status, 'LowCardinality(String)')",
      card_problem: known('card_problem'),
      card_fetched_at: timeOrNull('card_at'),
      rating_mean: decimalAsFloat('rating_mean'),
      paid_score: decimalAsFloat('paid_score'),
      paid_rating_count: 't.paid_count',
      paid_rating_clients: 't.paid_clients',
      tag_scores: `arrayMap(one -> ${TAG_SCORE}, JSONExtract(t.tag_scores, ${STORED_TAG_SCORES}))`,
      last_feedback_at: timeOrNull('last_feedback_at'),
      registered_tx: transactionText('registered_tx'),
    },
    from: `${database}.agents AS t FINAL WHERE t.del = 0`,
  };
}

/** Ordered by agent, the key that analysts filter by; the table ordered by time serves the API's feed. */
export function attestationsBody(database: string): ViewBody<'attestations'> {
  const revoked = `(t.chain, t.agent_id, t.client, t.feedback_index) IN (
  SELECT chain, agent_id, client, feedback_index FROM ${database}.feedback_revocations FINAL WHERE del = 0)`;
  const isOfFeedback = "t.kind IN ('feedback', 'response', 'revocation')";
  const given = 'toFloat64(t.value) / exp10(t.value_decimals)';
  return {
    columns: {
      kind: "CAST(t.kind, 'LowCardinality(String)')",
      author: accountText('author'),
      value: `if(t.kind IN ('feedback', 'validation_response'), ${given}, NULL)`,
      tag1: known('tag1'),
      tag2: known('tag2'),
      endpoint: known('endpoint'),
      uri: known('uri'),
      revoked: `CAST(t.kind = 'feedback' AND ${revoked}, 'Bool')`,
      tx_hash: transactionText('tx_hash'),
      client: `if(${isOfFeedback}, ${accountText('client')}, NULL)`,
      feedback_index: `if(${isOfFeedback}, t.feedback_index, NULL)`,
      file_hash: hashOrNull('file_hash'),
      request_hash: hashOrNull('request_hash'),
      comment: "nullIf(f.comment, '')",
    },
    // Joined by the agent first: a query about one agent reads one range of both tables.
    from: `${database}.agent_attestations AS t FINAL
LEFT ANY JOIN (SELECT chain, agent_id, block_number, log_index, comment FROM ${database}.agent_feedback_files FINAL WHERE del = 0 AND comment != '') AS f
ON t.chain = f.chain AND t.agent_id = f.agent_id AND t.block_number = f.block_number AND t.log_index = f.log_index
WHERE t.del = 0`,
  };
}
