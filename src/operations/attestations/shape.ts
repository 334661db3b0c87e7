import { type Static, Type } from '@sinclair/typebox';
import { TRANSACTION_PATTERN } from '../../../core/domain/account.ts';
import { ATTESTATION_KINDS, isOnRatingScale, isRatingTag } from '../../../core/domain/agent.ts';
import { usdNumber } from '../../../core/domain/amount.ts';
import { displayText } from '../../../core/domain/display-text.ts';
import {
  PROOF_STATUSES,
  type ProofOfPayment,
  type ProvenPayment,
  proofStatus,
} from '../../../core/domain/payment.ts';
import type { Finality } from '../../../core/domain/settlement.ts';
import { AgentIdShape, TAG_SCORE_EXAMPLES, TagScoreShape, tagScoreAnswer } from '../agents/shape.ts';
import {
  AddressShape,
  ChainShape,
  CountShape,
  oneOf,
  orNull,
  TimeShape,
  timeText,
  UsdShape,
} from '../shapes.ts';
import type { ProvenPayments } from './proofs.ts';
import type { AttestationFacts, FeedbackFileState } from './read.ts';
import { type AttestationRow, URI_READ_MAX_CHARS } from './row.ts';

/** A log of the reputation or validation registry as /attestations shows it. Source: ERC-8004. */

const LABEL_MAX_CHARS = 256;
/** A `data:` URI is the file itself. */
const DATA_URI_MAX_CHARS = 256;
/** As they are stored (ingest/agents/feedback). */
const COMMENT_MAX_CHARS = 2_000;
const URI_MAX_CHARS = URI_READ_MAX_CHARS - 1;
const DATA_URI = /^data:/i;

const NullableText = orNull(Type.String());
const HashShape = Type.String({ pattern: TRANSACTION_PATTERN });
const NullableHash = orNull(HashShape);
const FILE_STATUSES = ['new', 'good', 'failed'] as const;

const FileShape = Type.Object(
  {
    status: oneOf(FILE_STATUSES, {
      description: 'new: not tried yet. good: it was read. failed: the newest try; it is tried again.',
    }),
    problem: orNull(Type.String(), {
      description:
        'Why the newest try failed; of a good file `other_agent` or `other_client` when it names another agent or client than its log.',
    }),
    hash_matches: orNull(
      Type.Boolean({
        description:
          'Whether it has the hash that was logged; null when it was not read, or none was logged.',
      }),
    ),
  },
  { title: 'FeedbackFile' },
);

const ProofSettlementShape = Type.Object(
  {
    log_index: CountShape,
    amount: Type.String({ pattern: '^[0-9]+$', description: 'Atomic units.' }),
    amount_usd: UsdShape,
    payer: AddressShape,
    payee: AddressShape,
  },
  { title: 'ProofSettlement' },
);

const ProofShape = Type.Object(
  {
    chain: ChainShape,
    tx_hash: HashShape,
    from: AddressShape,
    to: AddressShape,
    status: oneOf(PROOF_STATUSES, {
      description:
        'proven: a settlement of this transaction went from one to the other. contradicted: the transaction is in the index and no settlement of it did, or the file is not the one that was logged, or names another agent or client than its log. unknown: the transaction is not in the index.',
    }),
    settlement: orNull(ProofSettlementShape, {
      description: 'The first one between them in that transaction; null unless proven.',
    }),
  },
  { title: 'ProofOfPayment' },
);

export const AttestationShape = Type.Object(
  {
    chain: ChainShape,
    agent_id: AgentIdShape,
    agent_name: orNull(Type.String(), { description: 'As its card claims, made safe to show.' }),
    kind: oneOf(ATTESTATION_KINDS, { title: 'AttestationKind' }),
    author: {
      ...AddressShape,
      description:
        'Who wrote it: of feedback and revocations the client, of responses the responder, of validations the validator who was asked.',
    },
    client: orNull(AddressShape, {
      description: 'Who gave the feedback that it is, answers or revokes; null for validations.',
    }),
    feedback_index: orNull(Type.String({ pattern: '^[0-9]+$' }), {
      description: 'Which feedback of this client about this agent, from 1; null for validations.',
    }),
    value: orNull(
      Type.Number({
        description:
          'Of feedback: the value given, on the scale of its tag. Of a validation_response: 0 to 100. Else null.',
      }),
    ),
    value_raw: orNull(Type.String({ pattern: '^-?[0-9]+$' }), {
      description: 'The integer that was logged; `value` is it with `value_decimals` decimals, as a double.',
    }),
    value_decimals: orNull(Type.Integer({ minimum: 0, maximum: 18 })),
    tag1: NullableText,
    tag2: NullableText,
    is_rating: orNull(
      Type.Boolean({
        description:
          'Of feedback: whether it is a rating from 0 to 100, by tag1 and value, and so part of the agent’s `score` unless revoked. Else null.',
      }),
    ),
    tag_score: orNull(TagScoreShape, {
      description:
        'Of feedback: what all clients said of the agent under this tag1; null where the tag is not among those that most gave. Else null.',
    }),
    endpoint: NullableText,
    uri: orNull(Type.String(), {
      description: `Where its file is: at most ${URI_MAX_CHARS} characters, of a data: URI ${DATA_URI_MAX_CHARS}, then \u2026; SQL has all of it.`,
    }),
    file_hash: {
      ...NullableHash,
      description: 'keccak-256 of the file as logged; null when none was given.',
    },
    request_hash: { ...NullableHash, description: 'Of validations: which request it is, or answers.' },
    revoked: orNull(
      Type.Boolean({ description: 'Of feedback: whether its client has revoked it since. Else null.' }),
    ),
    file: orNull(FileShape, {
      description:
        'What came of fetching the file of feedback; null where it names none, and for other kinds.',
    }),
    comment: orNull(Type.String(), {
      description:
        'What the client says in words in the file of its feedback, made safe to show; at most 2,000 characters, then \u2026. Null where the file has no text, was not read yet, or is not the one that was logged.',
    }),
    proof_of_payment: orNull(ProofShape, {
      description:
        'The payment that the file names, held against the settlements now; null where it names none.',
    }),
    block_number: CountShape,
    block_time: TimeShape,
    tx_hash: HashShape,
    log_index: CountShape,
    finality: oneOf(['head', 'finalized'], {
      title: 'Finality',
      description: 'head: a reorg can still undo it.',
    }),
  },
  { title: 'Attestation' },
);

type AttestationAnswer = Static<typeof AttestationShape>;

interface Joined {
  readonly facts: AttestationFacts;
  readonly payments: ProvenPayments;
  readonly finality: Finality;
}

export function attestationAnswer(
  row: AttestationRow,
  { facts, payments, finality }: Joined,
): AttestationAnswer {
  const isValidation = row.kind === 'validation_request' || row.kind === 'validation_response';
  const hasValue = row.kind === 'feedback' || row.kind === 'validation_response';
  const file = facts.file(row);
  const tagScore = row.kind === 'feedback' ? facts.tagScore(row) : undefined;
  return {
    chain: row.chain,
    agent_id: String(row.agentId),
    agent_name: shown(facts.agentName(row), LABEL_MAX_CHARS),
    kind: row.kind,
    author: row.author,
    client: isValidation ? null : row.client,
    feedback_index: isValidation ? null : String(row.feedbackIndex),
    value: hasValue ? decimalNumber(row.value, row.valueDecimals) : null,
    value_raw: hasValue ? String(row.value) : null,
    value_decimals: hasValue ? row.valueDecimals : null,
    tag1: shown(row.tag1, LABEL_MAX_CHARS),
    tag2: shown(row.tag2, LABEL_MAX_CHARS),
    is_rating:
      row.kind === 'feedback' ? isRatingTag(row.tag1) && isOnRatingScale(row.value, row.valueDecimals) : null,
    tag_score: tagScore === undefined ? null : tagScoreAnswer(tagScore),
    endpoint: shown(row.endpoint, URI_MAX_CHARS),
    uri: shown(row.uri, DATA_URI.test(row.uri) ? DATA_URI_MAX_CHARS : URI_MAX_CHARS),
    file_hash: hashOrNull(row.fileHash),
    request_hash: isValidation ? row.requestHash : null,
    revoked: row.kind === 'feedback' ? facts.isRevoked(row) : null,
    file: file === undefined ? null : fileAnswer(file, row),
    comment: file === undefined ? null : shown(file.comment, COMMENT_MAX_CHARS),
    proof_of_payment: proofAnswer(file, payments),
    block_number: row.blockNumber,
    block_time: timeText(row.blockTime),
    tx_hash: row.txHash,
    log_index: row.logIndex,
    finality,
  };
}

/** A stranger's text, safe to show; null for none. */
function shown(text: string, maxChars: number): string | null {
  const safe = displayText(text, maxChars);
  return safe === '' ? null : safe;
}

/** The double nearest to `value / 10^decimals`. */
function decimalNumber(value: bigint, decimals: number): number {
  return Number(`${value}e-${decimals}`);
}

function hashOrNull(hash: string): string | null {
  return /^0x0*$/.test(hash) ? null : hash;
}

function fileAnswer(file: FeedbackFileState, { fileHash }: AttestationRow): Static<typeof FileShape> {
  const isCompared = file.status === 'good' && hashOrNull(fileHash) !== null;
  return {
    status: file.status,
    problem: file.problem === '' ? null : file.problem,
    hash_matches: isCompared ? file.hashMatches : null,
  };
}

function proofAnswer(
  file: FeedbackFileState | undefined,
  payments: ProvenPayments,
): Static<typeof ProofShape> | null {
  const proof = file?.status === 'good' ? file.proof : null;
  if (file === undefined || proof === null) return null;
  const payment = payments.payment(proof);
  const status = proofStatus({
    fileFitsLog: file.problem === '' && file.hashMatches,
    isTransactionKnown: payments.isTransactionKnown(proof),
    payment,
  });
  return {
    chain: proof.chain,
    tx_hash: proof.txHash,
    from: proof.from,
    to: proof.to,
    status,
    settlement: status === 'proven' && payment !== undefined ? settlementAnswer(proof, payment) : null,
  };
}

function settlementAnswer(
  { from, to }: ProofOfPayment,
  payment: ProvenPayment,
): Static<typeof ProofSettlementShape> {
  return {
    log_index: payment.logIndex,
    amount: String(payment.amount),
    amount_usd: usdNumber(payment.amountUsdMicros),
    payer: from,
    payee: to,
  };
}

/** The payments that the files of a page name. */
export function proofsOf(rows: readonly AttestationRow[], facts: AttestationFacts): ProofOfPayment[] {
  return rows.flatMap((row) => facts.file(row)?.proof ?? []);
}

export const ATTESTATION_EXAMPLE: AttestationAnswer = {
  chain: 'eip155:8453',
  agent_id: '2290',
  agent_name: 'Weather by the call',
  kind: 'feedback',
  author: '0x4020615294c913f045dc10f0a5cdebd86c280001',
  client: '0x4020615294c913f045dc10f0a5cdebd86c280001',
  feedback_index: '3',
  value: 92.5,
  value_raw: '925',
  value_decimals: 1,
  tag1: 'starred',
  tag2: null,
  is_rating: true,
  tag_score: TAG_SCORE_EXAMPLES[0] ?? null,
  endpoint: 'https://weather.example/mcp',
  uri: 'ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy',
  file_hash: '0x3c1b0a8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a396f2a9f6f9a7e5c',
  request_hash: null,
  revoked: false,
  file: { status: 'good', problem: null, hash_matches: true },
  comment: 'Answered in a second, and the forecast was right.',
  proof_of_payment: {
    chain: 'eip155:8453',
    tx_hash: '0x6f2a9f6f9a7e5c3d1b0a8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39',
    from: '0x4020615294c913f045dc10f0a5cdebd86c280001',
    to: '0x8d4f05a0f2c1b3e49a7766554433221100ffeedd',
    status: 'proven',
    settlement: {
      log_index: 214,
      amount: '10000',
      amount_usd: 0.01,
      payer: '0x4020615294c913f045dc10f0a5cdebd86c280001',
      payee: '0x8d4f05a0f2c1b3e49a7766554433221100ffeedd',
    },
  },
  block_number: 38_412_101,
  block_time: '2026-11-20T09:15:49Z',
  tx_hash: '0xb1a09f8e7d6c5b4a396f2a9f6f9a7e5c3c1b0a8e7d6c5b4a39281706f5e4d3c2',
  log_index: 31,
  finality: 'head',
};
