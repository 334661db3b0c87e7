import { type Sql, sql, texts, trustedText, uint32, uint64 } from '../../clickhouse/engine/sql.ts';
import {
  PRIOR_CLIENTS,
  PRIOR_MEAN,
  RATING_MAX,
  RATING_TAGS,
  TAG_SCORES_MAX,
} from '../../core/domain/reputation.ts';

/**
 * What the feedback that stands makes of agents (core/domain/reputation.ts). All means are exact: values are brought to 18 decimals as
 * 256-bit integers (an int128 with 18 more digits fits), and every quotient is cut toward zero there.
 */

const DECIMALS = 18;
const scaledToE18 = (value: number): Sql =>
  sql`toInt256(${trustedText(`'${BigInt(value) * 10n ** BigInt(DECIMALS)}'`)})`;
const decimalOf = (scaled: Sql): Sql =>
  sql`toDecimal256(${scaled}, 18) / toDecimal256('1000000000000000000', 0)`;

/** Feedback that was given and not revoked: chain, agent_id, client, tag1, scaled, given_at, where its log is, and whether it is a rating. */
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

/** The mean of the clients' means: who rates often counts once. */
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
 * The tags of each agent of `due` that most clients gave, as a list in JSON, each on its own scale: of a tag of ratings only what
 * lies on theirs.
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
 * Feedback whose file proves a payment: the file is the one that was logged and about this agent and client, and the payment that it
 * names is a settlement, from the client to an address that the agent is or was owned or paid at. Transactions are public, so a
 * payment between others proves nothing.
 */
function provenFeedback(due: Sql): Sql {
  const files = sql`agent_feedback_files FINAL WHERE (chain, agent_id) IN ${due} AND del = 0 AND status = 'good' AND problem = ''
    AND hash_matches = 1 AND proof_chain != '' AND proof_from = client AND proof_from != proof_to`;
  const own = sql`SELECT chain, agent_id, account FROM agent_events FINAL
    WHERE (chain, agent_id) IN ${due} AND del = 0 AND kind IN ('registered', 'transferred', 'wallet_set')`;
  // By the index of transactions among unmerged versions; then the versions of these rows alone are merged (as src/operations/attestations/proofs.ts).
  const settled = sql`SELECT chain, tx_hash, payer, payee FROM (SELECT * FROM settlements FINAL WHERE (block_time, chain, block_number, log_index) IN (
      SELECT block_time, chain, block_number, log_index FROM settlements WHERE tx_hash IN (SELECT proof_tx FROM ${files})))
    WHERE del = 0`;
  return sql`SELECT chain, agent_id, (block_number, log_index) FROM ${files}
    AND (chain, agent_id, proof_to) IN (${own}) AND (proof_chain, proof_tx, proof_from, proof_to) IN (${settled})`;
}
