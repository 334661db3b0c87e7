import { IS_DUST } from '../../clickhouse/engine/counted-rows.ts';
import { type Sql, sql, texts, trustedText, uint32, uint64 } from '../../clickhouse/engine/sql.ts';
import {
  PRIOR_CLIENTS,
  PRIOR_MEAN,
  RATING_MAX,
  RATING_TAGS,
  TAG_SCORES_MAX,
} from '../../core/domain/agent.ts';

/**
 * Statements that derive table `agents`. An agent is a pure function of the registries' events, the fetched cards and the unrevoked
 * feedback. Source: ERC-8004.
 */

/** Never due: a registration without a URI has nothing to fetch. The last second that the engine's DateTime can hold. */
const NEVER_DUE = sql`toDateTime(4294967295, 'UTC')`;

/** Which changed agents a statement selects. */
export type Due = { readonly changedWithinSeconds: number } | 'all';

/**
 * Records the next agents to derive with their current change counts. A separate statement, before any other row is read: later
 * changes make the agent due again.
 */
export function noteDueSql(batch: bigint, due: Due, agentsMax: number): Sql {
  // By the key of both tables: finding the newest changes must not read half a million agents.
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

/** Grows with every change of any agent, and never shrinks: merges keep sums. */
export function countChangesSql(): Sql {
  return sql`SELECT sum(changes) FROM agent_changes`;
}

/**
 * Makes every agent due whose feedback names a payment. A settlement that is indexed or undone after the file was read does not make
 * the agent due, because settlements do not refer to feedback.
 */
export function recheckProofsSql(): Sql {
  return sql`INSERT INTO agent_changes SELECT chain, agent_id, 1 AS changes, now('UTC') AS changed_at
    FROM agent_feedback_files FINAL WHERE del = 0 AND status = 'good' AND proof_chain != '' GROUP BY chain, agent_id`;
}

export function countDueSql(batch: bigint): Sql {
  return sql`SELECT count() FROM agents_due WHERE batch = ${uint64(batch)}`;
}

/** Derives every agent of a batch. An agent whose registration was undone or never seen becomes a tombstone. */
export function deriveSql(batch: bigint, ver: bigint): Sql {
  const due = sql`(SELECT chain, agent_id FROM agents_due WHERE batch = ${uint64(batch)})`;
  return sql`INSERT INTO agents (chain, agent_id, owner, wallet, agent_uri, registered_at, registered_block, registered_tx, updated_at,
      name, description, image, services, supported_trust, x402_support, active, capabilities,
      card_status, card_problem, card_at, card_due_at, domain, domain_proof,
      feedback_count, distinct_clients, score, rating_mean, rating_count, rating_clients, paid_score, paid_count, paid_clients,
      tag_scores, last_feedback_at, derived_changes, ver, del)
    SELECT d.chain, d.agent_id, e.owner, e.wallet, e.uri, e.registered_at, e.registered_block, e.registered_tx,
      greatest(e.changed_at, c.good_at),
      if(c.good_at = 0, m.name, c.name), c.description, c.image, if(c.good_at = 0 AND m.services != '', m.services, c.services), c.supported_trust, c.x402_support, if(c.good_at = 0, 0, c.active), c.capabilities,
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
    LEFT JOIN (${metadataOf(due)}) AS m ON m.chain = d.chain AND m.agent_id = d.agent_id
    LEFT JOIN (${scoresOf(due)}) AS f ON f.chain = d.chain AND f.agent_id = d.agent_id
    LEFT JOIN (${tagScoresOf(due)}) AS t ON t.chain = d.chain AND t.agent_id = d.agent_id`;
}

const CARD_STATUS = sql`'Enum8(\\'none\\' = 0, \\'good\\' = 1, \\'failed\\' = 2)'`;

/**
 * The state that the identity registry would report. A registration starts with its owner as wallet; the registry logs every later
 * change of the wallet, including its clearing at a transfer.
 *
 * A contract may sell its agent during the mint, and the registry logs `Registered` and the first wallet after that sale, with the
 * values from before it. So a transfer takes precedence over `Registered` at any position, and the wallet logged right after
 * `Registered` counts only if there is no other.
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

/** Bounds of what an agent says of itself on chain; those of a file's fields (cards/read.ts). */
const METADATA = { nameMaxChars: 120, endpointsMax: 32, urlMaxChars: 480, serviceMaxChars: 40 } as const;
/** Scripts that share words with Latin without resembling it, and Cyrillic alone: core/domain/display-text.ts, as far as the engine can say it. */
const WORDS = ['Latin', 'Han', 'Hiragana', 'Katakana', 'Hangul', 'Arabic', 'Hebrew', 'Thai', 'Devanagari'];
const shape = (scripts: readonly string[], maxChars: number): Sql =>
  trustedText(
    `'^(?:[${[...scripts, 'Nd', 'P', 'S'].map((script) => `\\\\p{${script}}`).join('')}\\\\x{30fc} ]\\\\p{M}{0,3}){1,${maxChars}}$'`,
  );
/** Controls, marks of direction, separators, and fillers that are letters and show nothing. */
const HIDDEN = trustedText(String.raw`'[\\p{C}\\p{Zl}\\p{Zp}\\x{115f}\\x{1160}\\x{2800}\\x{3164}\\x{ffa0}]'`);
const isShown = (value: Sql, maxChars: number): Sql =>
  sql`(NOT match(${value}, ${HIDDEN}) AND (match(${value}, ${shape(WORDS, maxChars)}) OR match(${value}, ${shape(['Cyrillic'], maxChars)})))`;
const WEB_URL = trustedText(`'^https?://[!-;=?-~]{1,${METADATA.urlMaxChars}}$'`);
const SERVICE_TYPE = trustedText(
  `'Array(Tuple(name String, endpoint String, version String, skills Array(String), domains Array(String)))'`,
);

/**
 * What agents without a readable file say of themselves in the registry: metadata `name`, and a service for each `endpoint/<name>`. A value is
 * text, or text as `abi.encode` packs it: an offset of 32, the length, the bytes. Anything that is not safe to show counts as absent.
 */
function metadataOf(due: Sql): Sql {
  const packed = sql`startsWith(data, unhex(concat(repeat('00', 31), '20')))`;
  const value = sql`if(${packed}, substring(data, 65, reinterpretAsUInt32(reverse(substring(data, 61, 4)))), data)`;
  const newest = sql`SELECT chain, agent_id, text AS key, argMax(${value}, (block_number, log_index)) AS value
    FROM (SELECT * FROM agent_events FINAL WHERE (chain, agent_id) IN ${due} AND kind = 'metadata_set') WHERE del = 0
      AND (text = 'name' OR startsWith(text, 'endpoint/')) GROUP BY chain, agent_id, text`;
  const services = sql`groupArraySortedIf(${uint32(METADATA.endpointsMax)})((substring(key, 10), value, '', [], []),
      startsWith(key, 'endpoint/') AND match(value, ${WEB_URL}) AND ${isShown(sql`substring(key, 10)`, METADATA.serviceMaxChars)})`;
  return sql`SELECT chain, agent_id, anyIf(value, key = 'name' AND ${isShown(sql`value`, METADATA.nameMaxChars)}) AS name,
      ${services} AS found, if(empty(found), '', toJSONString(CAST(found, ${SERVICE_TYPE}))) AS services
    FROM (${newest}) GROUP BY chain, agent_id`;
}

/**
 * Scores of agents from unrevoked feedback (core/domain/agent.ts). All means are exact: values are scaled to 18 decimals as 256-bit
 * integers (an int128 with 18 more digits fits), and every quotient is truncated toward zero at that scale.
 */

const DECIMALS = 18;
const scaledToE18 = (value: number): Sql =>
  sql`toInt256(${trustedText(`'${BigInt(value) * 10n ** BigInt(DECIMALS)}'`)})`;
const decimalOf = (scaled: Sql): Sql =>
  sql`toDecimal256(${scaled}, 18) / toDecimal256('1000000000000000000', 0)`;

/** Unrevoked feedback: chain, agent_id, client, tag1, scaled, given_at, the position of its log, and whether it is a rating. */
function standing(due: Sql): Sql {
  const logged = sql`SELECT chain, agent_id, client, feedback_index,
      anyIf(toInt256(value) * toInt256(intExp10(18 - value_decimals)), kind = 'feedback') AS scaled, anyIf(tag1, kind = 'feedback') AS tag,
      anyIf((block_number, log_index), kind = 'feedback') AS place, maxIf(block_time, kind = 'feedback') AS given_at
    FROM (SELECT * FROM agent_attestations FINAL WHERE (chain, agent_id) IN ${due} AND kind IN ('feedback', 'revocation')) WHERE del = 0
    GROUP BY chain, agent_id, client, feedback_index
    HAVING countIf(kind = 'feedback') > 0 AND countIf(kind = 'revocation') = 0`;
  return sql`SELECT *, lower(tag) IN ${texts(RATING_TAGS)} AND scaled >= 0 AND scaled <= ${scaledToE18(RATING_MAX)} AS is_rating
    FROM (${logged})`;
}

/** The mean of the clients' means: a client that rates often counts once. */
const clientsMean = (clients: Sql, sum: Sql): Sql =>
  decimalOf(sql`intDiv(${sum}, toInt256(greatest(${clients}, 1)))`);
const bayesianMean = (clients: Sql, sum: Sql): Sql =>
  decimalOf(
    sql`intDiv(${sum} + ${scaledToE18(PRIOR_MEAN * PRIOR_CLIENTS)}, toInt256(${clients} + ${uint32(PRIOR_CLIENTS)}))`,
  );
const orNull = (clients: Sql, mean: Sql): Sql => sql`if(${clients} = 0, NULL, ${mean})`;

/** One row for each agent of `due` with feedback. */
export function scoresOf(due: Sql): Sql {
  const byClient = sql`SELECT chain, agent_id, client, count() AS given, max(given_at) AS last_at, countIf(is_rating) AS ratings,
      intDiv(sumIf(scaled, is_rating), toInt256(greatest(ratings, 1))) AS rating, countIf(is_rating AND is_paid) AS paid_ratings,
      intDiv(sumIf(scaled, is_rating AND is_paid), toInt256(greatest(paid_ratings, 1))) AS paid_rating
    FROM (SELECT *, (chain, agent_id, place) IN (${provenFeedback(due)}) AS is_paid FROM (${standing(due)}))
    GROUP BY chain, agent_id, client`;
  const [rated, paid] = [sql`rating_clients`, sql`paid_clients`];
  return sql`SELECT chain, agent_id, sum(given) AS feedback_count, count() AS distinct_clients, max(last_at) AS last_feedback_at,
      sum(ratings) AS rating_count, countIf(ratings > 0) AS rating_clients, sum(rating) AS rating_sum,
      sum(paid_ratings) AS paid_count, countIf(paid_ratings > 0) AS paid_clients, sum(paid_rating) AS paid_sum,
      ${orNull(rated, bayesianMean(rated, sql`rating_sum`))} AS score, ${orNull(rated, clientsMean(rated, sql`rating_sum`))} AS rating_mean,
      ${orNull(paid, bayesianMean(paid, sql`paid_sum`))} AS paid_score
    FROM (${byClient}) GROUP BY chain, agent_id`;
}

/**
 * The tags of each agent of `due` that most clients used, as a JSON list, each on its own scale; for a rating tag only values on the
 * scale of ratings count.
 */
export function tagScoresOf(due: Sql): Sql {
  const byClient = sql`SELECT chain, agent_id, tag, client, count() AS given, intDiv(sum(scaled), toInt256(given)) AS mean,
      any(is_rating) AS are_ratings
    FROM (${standing(due)}) WHERE is_rating OR lower(tag) NOT IN ${texts(RATING_TAGS)} GROUP BY chain, agent_id, tag, client`;
  const byTag = sql`SELECT chain, agent_id, tag, sum(given) AS n, count() AS clients, any(are_ratings) AS is_scale,
      toString(${clientsMean(sql`clients`, sql`sum(mean)`)}) AS text
    FROM (${byClient}) GROUP BY chain, agent_id, tag ORDER BY clients DESC, n DESC, tag LIMIT ${uint64(TAG_SCORES_MAX)} BY chain, agent_id`;
  return sql`SELECT chain, agent_id, toJSONString(arraySort(groupArray(CAST((-toInt64(clients), -toInt64(n), tag, text, is_scale),
      'Tuple(clients Int64, count Int64, tag String, mean String, is_rating Bool)')))) AS tag_scores
    FROM (${byTag}) GROUP BY chain, agent_id`;
}

/**
 * Feedback whose file proves a payment: the file matches its logged hash, agent and client, and names a settlement from the client to
 * a current or former owner or wallet of the agent. Transactions are public, so a payment between other parties proves nothing, and neither
 * does dust.
 */
function provenFeedback(due: Sql): Sql {
  const files = sql`agent_feedback_files FINAL WHERE (chain, agent_id) IN ${due} AND del = 0 AND status = 'good' AND problem = ''
    AND hash_matches = 1 AND proof_chain != '' AND proof_from = client AND proof_from != proof_to`;
  const own = sql`SELECT chain, agent_id, account FROM agent_events FINAL
    WHERE (chain, agent_id) IN ${due} AND del = 0 AND kind IN ('registered', 'transferred', 'wallet_set')`;
  // Finds candidates by the transaction index among unmerged versions, then merges only these rows (as src/operations/attestations/proofs.ts).
  const settled = sql`SELECT chain, tx_hash, payer, payee FROM (SELECT * FROM settlements FINAL WHERE (block_time, chain, block_number, log_index) IN (
      SELECT block_time, chain, block_number, log_index FROM settlements WHERE tx_hash IN (SELECT proof_tx FROM ${files})))
    WHERE del = 0 AND NOT ${IS_DUST}`;
  return sql`SELECT chain, agent_id, (block_number, log_index) FROM ${files}
    AND (chain, agent_id, proof_to) IN (${own}) AND (proof_chain, proof_tx, proof_from, proof_to) IN (${settled})`;
}
