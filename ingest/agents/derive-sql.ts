import { type Sql, sql, uint64 } from '../../clickhouse/engine/sql.ts';
import { scoresOf, tagScoresOf } from './derive-scores.ts';

/**
 * Statements that derive table `agents`. State is a function of the registries' events, the fetched cards and the feedback that
 * stands: deriving it again from the same rows gives the same agent. Source: ERC-8004, protocol.md 4.2; design.md 3.
 */

/** Due at no time: a registration without a URI has nothing to fetch. The last second that the engine's DateTime can hold. */
const NEVER_DUE = sql`toDateTime(4294967295, 'UTC')`;

/** Which agents a statement looks for among those that have changed. */
export type Due = { readonly changedWithinSeconds: number } | 'all';

/**
 * Notes the next agents to derive, with the changes that are known now. A statement of its own, before any other row is read:
 * what changes after it makes the agent due again.
 */
export function noteDueSql(batch: bigint, due: Due, agentsMax: number): Sql {
  // By the key of both tables: a look at the newest changes must not read half a million agents.
  const among =
    due === 'all'
      ? sql`1`
      : sql`(chain, agent_id) IN (SELECT chain, agent_id FROM agent_changes
             WHERE changed_at >= now('UTC') - toIntervalSecond(${uint64(due.changedWithinSeconds)}))`;
  return sql`INSERT INTO agents_due (batch, chain, agent_id, changes)
    SELECT ${uint64(batch)}, c.chain, c.agent_id, c.changes
    FROM (SELECT chain, agent_id, sum(changes) AS changes FROM agent_changes WHERE ${among} GROUP BY chain, agent_id) AS c
    LEFT JOIN (SELECT chain, agent_id, derived_changes FROM agents FINAL WHERE ${among}) AS a
      ON c.chain = a.chain AND c.agent_id = a.agent_id
    WHERE c.changes != a.derived_changes
    ORDER BY c.chain, c.agent_id LIMIT ${uint64(agentsMax)}`;
}

/**
 * Makes every agent due whose feedback names a payment. A settlement that comes or goes after the file was read makes nobody due by
 * itself, because settlements do not know who points to them.
 */
export function recheckProofsSql(): Sql {
  return sql`INSERT INTO agent_changes SELECT chain, agent_id, 1 AS changes, now('UTC') AS changed_at
    FROM agent_feedback_files FINAL WHERE del = 0 AND status = 'good' AND proof_chain != '' GROUP BY chain, agent_id`;
}

export function countDueSql(batch: bigint): Sql {
  return sql`SELECT count() FROM agents_due WHERE batch = ${uint64(batch)}`;
}

/** Derives every agent of a batch. One whose registration was taken back, or was never seen, becomes a tombstone. */
export function deriveSql(batch: bigint, ver: bigint): Sql {
  const due = sql`(SELECT chain, agent_id FROM agents_due WHERE batch = ${uint64(batch)})`;
  return sql`INSERT INTO agents (chain, agent_id, owner, wallet, agent_uri, registered_at, registered_block, registered_tx, updated_at,
      name, description, image, services, supported_trust, x402_support, active, capabilities,
      card_status, card_problem, card_at, card_due_at, domain, domain_proof,
      feedback_count, distinct_clients, score, rating_mean, rating_count, rating_clients, paid_score, paid_count, paid_clients,
      tag_scores, last_feedback_at, derived_changes, ver, del)
    SELECT d.chain, d.agent_id, e.owner, e.wallet, e.uri, e.registered_at, e.registered_block, e.registered_tx,
      greatest(e.changed_at, c.good_at),
      c.name, c.description, c.image, c.services, c.supported_trust, c.x402_support, if(c.good_at = 0, 0, c.active), c.capabilities,
      multiIf(c.tried_at != 0, CAST(toInt8(c.status), ${CARD_STATUS}), CAST(0, ${CARD_STATUS})),
      if(e.uri = '', 'empty_uri', if(c.uri = e.uri, c.problem, '')), c.good_at,
      multiIf(e.uri = '', ${NEVER_DUE}, c.uri = e.uri, c.next_try_at, toDateTime(0, 'UTC')),
      c.domain, c.domain_proof, f.feedback_count, f.distinct_clients, f.score, f.rating_mean, f.rating_count, f.rating_clients,
      f.paid_score, f.paid_count, f.paid_clients, t.tag_scores, f.last_feedback_at,
      d.changes, ${uint64(ver)}, e.registrations = 0
    FROM (SELECT chain, agent_id, changes FROM agents_due WHERE batch = ${uint64(batch)}) AS d
    LEFT JOIN (${stateOf(due)}) AS e ON e.chain = d.chain AND e.agent_id = d.agent_id
    LEFT JOIN (SELECT * FROM agent_cards FINAL WHERE del = 0 AND (chain, agent_id) IN ${due}) AS c
      ON c.chain = d.chain AND c.agent_id = d.agent_id
    LEFT JOIN (${scoresOf(due)}) AS f ON f.chain = d.chain AND f.agent_id = d.agent_id
    LEFT JOIN (${tagScoresOf(due)}) AS t ON t.chain = d.chain AND t.agent_id = d.agent_id`;
}

const CARD_STATUS = sql`'Enum8(\\'none\\' = 0, \\'good\\' = 1, \\'failed\\' = 2)'`;

/**
 * What the identity registry would answer. A registration starts with its owner as wallet; the registry logs every later
 * change of it, the clearing at a transfer too.
 *
 * A contract may sell its agent from within the mint, and the registry logs `Registered` and the first wallet after that: they
 * say what held before. So a transfer counts over `Registered`, wherever it stands, and the wallet that is logged right after
 * `Registered` counts only where no other is.
 */
function stateOf(due: Sql): Sql {
  const place = sql`(block_number, log_index)`;
  return sql`SELECT chain, agent_id,
      argMaxIf(account, (kind = 'transferred', block_number, log_index), kind IN ('registered', 'transferred')) AS owner,
      if(countIf(kind = 'wallet_set') > 0, argMaxIf(account, (is_later, block_number, log_index), kind = 'wallet_set'), argMinIf(account, ${place}, kind = 'registered')) AS wallet,
      argMaxIf(text, ${place}, kind IN ('registered', 'uri_updated')) AS uri,
      countIf(kind = 'registered') AS registrations,
      minIf(block_time, kind = 'registered') AS registered_at,
      minIf(block_number, kind = 'registered') AS registered_block,
      argMinIf(tx_hash, ${place}, kind = 'registered') AS registered_tx,
      max(block_time) AS changed_at
    FROM (SELECT *, (chain, agent_id, block_number, log_index) NOT IN (
            SELECT chain, agent_id, block_number, toUInt32(log_index + 1) FROM agent_events FINAL
            WHERE (chain, agent_id) IN ${due} AND kind = 'registered' AND del = 0) AS is_later
          FROM agent_events FINAL WHERE (chain, agent_id) IN ${due}) WHERE del = 0
    GROUP BY chain, agent_id`;
}
