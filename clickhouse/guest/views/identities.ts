import { hex, known, type ViewBody } from './body.ts';

const ZERO_ADDRESS = "toFixedString(unhex(repeat('00', 20)), 20)";

export function agentsBody(database: string): ViewBody<'agents'> {
  return {
    columns: {
      chain: 't.chain',
      agent_id: 't.agent_id',
      owner: hex('owner'),
      wallet: `if(t.wallet = ${ZERO_ADDRESS}, NULL, ${hex('wallet')})`,
      agent_uri: known('agent_uri'),
      name: known('name'),
      description: known('description'),
      x402_support: "CAST(t.x402_support, 'Bool')",
      active: "if(t.card_at = toDateTime(0, 'UTC'), NULL, CAST(t.active, 'Bool'))",
      // Built from its digits: a cast divides two doubles, and its last digit may differ from the API's.
      score: 'toFloat64OrNull(toString(t.score))',
      feedback_count: 't.feedback_count',
      registered_at: 't.registered_at',
      updated_at: 't.updated_at',
    },
    from: `${database}.agents AS t FINAL WHERE t.del = 0`,
  };
}

/** Ordered by agent, the key that analysts filter by; the table ordered by time serves the API's feed. */
export function attestationsBody(database: string): ViewBody<'attestations'> {
  const revoked = `(t.chain, t.agent_id, t.client, t.feedback_index) IN (
  SELECT chain, agent_id, client, feedback_index FROM ${database}.feedback_revocations FINAL WHERE del = 0)`;
  const given = 'toFloat64(t.value) / exp10(t.value_decimals)';
  return {
    columns: {
      chain: 't.chain',
      agent_id: 't.agent_id',
      kind: "CAST(t.kind, 'LowCardinality(String)')",
      author: hex('author'),
      value: `if(t.kind IN ('feedback', 'validation_response'), ${given}, NULL)`,
      tag1: known('tag1'),
      tag2: known('tag2'),
      endpoint: known('endpoint'),
      uri: known('uri'),
      revoked: `CAST(t.kind = 'feedback' AND ${revoked}, 'Bool')`,
      block_time: 't.block_time',
      tx_hash: hex('tx_hash'),
      log_index: 't.log_index',
    },
    from: `${database}.agent_attestations AS t FINAL WHERE t.del = 0`,
  };
}
