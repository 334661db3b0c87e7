import { DUST_BELOW } from '../data-quality.ts';
import {
  addressColumn,
  blockNumber,
  blockTime,
  chain,
  column,
  logIndex,
  NAME,
  NAME_OR_NULL,
  type PublicTable,
  TEXT,
  TEXT_OR_NULL,
  TIME,
  txHash,
} from './column.ts';

/** ERC-8004 agents and attestations about them. */

const TIME_OR_NULL = `Nullable(${TIME})`;
const SERVICE =
  'Tuple(name String, endpoint String, version String, skills Array(String), domains Array(String))';
const TAG_SCORE =
  'Tuple(tag String, mean Nullable(Float64), is_rating Bool, feedback_count UInt64, distinct_clients UInt64)';

export const AGENTS = {
  meaning: 'Agents registered with ERC-8004, with their newest card and score.',
  cheapBy: ['chain', 'agent_id'],
  columns: [
    chain,
    column('agent_id', 'UInt256', 'Token id in the identity registry of the chain.'),
    addressColumn('owner', 'Address that owns the registration.'),
    addressColumn(
      'wallet',
      'Address that the agent pays and is paid with; NULL when none is set.',
      TEXT_OR_NULL,
    ),
    column('agent_uri', TEXT_OR_NULL, 'Where its card is published; NULL when it names no place.'),
    column('name', TEXT_OR_NULL, 'Name of the card; NULL without one.'),
    column('description', TEXT_OR_NULL, 'Description of the card; NULL without one.'),
    column('x402_support', 'Bool', 'Whether the card declares x402.'),
    column('active', 'Nullable(Bool)', 'Whether the card declares the agent active; NULL without a card.'),
    column(
      'score',
      'Nullable(Float64)',
      'Ratings from 0 to 100 that were not revoked, each client once, drawn to 50 by few clients; NULL without one.',
    ),
    column('feedback_count', 'UInt64', 'Feedback that was not revoked.'),
    column('registered_at', TIME, 'Time of the registration.'),
    column('updated_at', TIME, 'Time of the newest change.'),
    column('image', TEXT_OR_NULL, 'Image of the card, an https or ipfs URL or data; NULL without one.'),
    column('services', `Array(${SERVICE})`, 'Services of the card as it spells them, at most 32.'),
    column(
      'capabilities',
      'Array(String)',
      'Slugs of GET /v0/capabilities, from the card by the published rule.',
    ),
    column('supported_trust', 'Array(String)', 'Kinds of trust that the card declares.'),
    column(
      'domain',
      TEXT_OR_NULL,
      'Domain that the card claims: to be believed where domain_proof is proven; NULL when it claims none.',
    ),
    column(
      'domain_proof',
      NAME,
      'Whether the domain itself lists the agent: proven, refuted, unreachable or unchecked.',
      ['unchecked', 'proven', 'refuted', 'unreachable'],
    ),
    column('card_status', NAME, 'The newest fetch of the card: good, failed, or none before the first.', [
      'none',
      'good',
      'failed',
    ]),
    column('card_problem', NAME_OR_NULL, 'Why the newest fetch gave no card; NULL when there is no problem.'),
    column('card_fetched_at', TIME_OR_NULL, 'When the card that is shown was fetched; NULL without one.'),
    column('distinct_clients', 'UInt64', 'Different addresses that gave feedback that was not revoked.'),
    column(
      'rating_mean',
      'Nullable(Float64)',
      'Mean of the clients’ mean ratings, 0 to 100, from which score is drawn to 50; NULL without a rating.',
    ),
    column('rating_count', 'UInt64', 'Ratings that score is of.'),
    column('rating_clients', 'UInt64', 'Different addresses that gave these ratings.'),
    column(
      'paid_score',
      'Nullable(Float64)',
      `score of only those ratings whose file proves a payment of ${DUST_BELOW} or more to the agent; NULL without one.`,
    ),
    column('paid_rating_count', 'UInt64', 'Ratings that paid_score is of.'),
    column('paid_rating_clients', 'UInt64', 'Different addresses that gave these.'),
    column(
      'tag_scores',
      `Array(${TAG_SCORE})`,
      'Mean of the feedback under each tag1, on the scale of the tag, tags of most clients first.',
    ),
    column('last_feedback_at', TIME_OR_NULL, 'Time of the newest feedback; NULL without feedback.'),
    column('registered_block', 'UInt64', 'Height of the block of the registration.'),
    column('registered_tx', TEXT, 'Hash of the transaction of the registration.', 'tx_hash'),
  ],
} as const satisfies PublicTable;

export const ATTESTATIONS = {
  meaning: 'ERC-8004 feedback, responses, revocations and validations.',
  cheapBy: ['chain', 'agent_id'],
  columns: [
    chain,
    column('agent_id', 'UInt256', 'The agent it is about.'),
    column('kind', NAME, 'feedback, response, revocation, validation_request or validation_response.', [
      'feedback',
      'response',
      'revocation',
      'validation_request',
      'validation_response',
    ]),
    addressColumn('author', 'Address that wrote it.'),
    column('value', 'Nullable(Float64)', 'The value given, scaled by its decimals; NULL where none is.'),
    column('tag1', TEXT_OR_NULL, 'First tag; NULL without one.'),
    column('tag2', TEXT_OR_NULL, 'Second tag; NULL without one.'),
    column('endpoint', TEXT_OR_NULL, 'The endpoint it is about; NULL where it names none.'),
    column('uri', TEXT_OR_NULL, 'Where its file is published; NULL without a file.'),
    column('revoked', 'Bool', 'Whether it was revoked.'),
    blockTime,
    txHash,
    logIndex,
    blockNumber,
    addressColumn(
      'client',
      'Address that gave the feedback that it is, answers or revokes; NULL for validations.',
      TEXT_OR_NULL,
    ),
    column(
      'feedback_index',
      'Nullable(UInt64)',
      'Number of that feedback among the client’s for the agent: with chain, agent_id and client it names a feedback. NULL for validations.',
    ),
    column('file_hash', TEXT_OR_NULL, 'keccak-256 of the file as it was logged; NULL where none was.'),
    column('request_hash', TEXT_OR_NULL, 'Hash that names the validation request; NULL otherwise.'),
    column(
      'comment',
      TEXT_OR_NULL,
      'What the client says in words in the file of its feedback, made safe to show, at most 2,000 characters. NULL where the file has no text, was not read yet or is not the one that was logged.',
    ),
  ],
} as const satisfies PublicTable;
