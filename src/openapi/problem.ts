import { type Static, Type } from '@sinclair/typebox';
import { PAYMENT_STAGES, type PaymentOffer, type PaymentTrouble } from '../../core/domain/payment.ts';
import { RESOURCE_NAMES } from '../../core/domain/resources.ts';
import {
  type ChargeFacts,
  ERROR_CODES,
  ERRORS,
  type ErrorCode,
  Failure,
  type FailureContext,
  fail,
  type QueryTrouble,
} from '../../core/errors.ts';
import { oneOf, TextEditsShape, timeText } from '../operations/shapes.ts';
import { PAYMENT_OFFER_SCHEMA } from './payments.ts';

/** The error answer, `application/problem+json`. Source: RFC 9457. */

/** Every error that reaches a surface becomes a `Failure`; any other error is a bug, whose text is not shown. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return fail('internal_error', {
    detail: 'The service failed to answer this request. The fault is on our side and was logged.',
    cause: error,
  });
}

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

export const ProblemShape = Type.Object({
  type: Type.String({ format: 'uri-reference', description: 'Documentation of the code.' }),
  title: Type.String(),
  status: Type.Integer({ minimum: 400, maximum: 599 }),
  detail: Type.String({ description: 'What happened in this request.' }),
  instance: Type.String({ format: 'uri-reference', description: 'The path that was asked for.' }),
  code: oneOf(ERROR_CODES, { title: 'ErrorCode' }),
  request_id: Type.String(),
  parameter: Type.Optional(Type.String({ description: 'The parameter at fault.' })),
  resource: Type.Optional(
    oneOf(RESOURCE_NAMES, { title: 'Resource', description: 'What could not be read or reached.' }),
  ),
  retry_after: Type.Optional(Type.Integer({ minimum: 1, description: 'Seconds, as in Retry-After.' })),
  x402Version: Type.Optional(
    Type.Literal(1, {
      description:
        'With `accepts`, where the call can be paid for; version 2 is in the PAYMENT-REQUIRED header.',
    }),
  ),
  error: Type.Optional(Type.String({ description: 'What x402 clients of version 1 read.' })),
  accepts: Type.Optional(
    Type.Array(Type.Unsafe<Readonly<Record<string, unknown>>>(PAYMENT_OFFER_SCHEMA), {
      description: 'Complete x402 offers: sign one, and send the same request again with X-PAYMENT.',
    }),
  ),
  stage: Type.Optional(
    oneOf(Object.keys(PAYMENT_STAGES), { title: 'PaymentStage', description: 'Where the payment failed.' }),
  ),
  retryable: Type.Optional(
    Type.Boolean({ description: 'Together with `stage`: whether the same payment may be sent again.' }),
  ),
  reason: Type.Optional(
    Type.String({
      description:
        'Together with `stage`: the facilitator’s code for it. Of `query_failed`, and of an `invalid_query` that was found in planning: why the query failed.',
    }),
  ),
  transaction: Type.Optional(Type.String({ description: 'Hash of the settlement.' })),
  authorization_nonce: Type.Optional(
    Type.String({
      description:
        'Look for it on the chain before anything else. Of a payment on Solana: SHA-256 of the signed message.',
    }),
  ),
  since: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'When the settlement with the unknown outcome was requested.',
    }),
  ),
  position: Type.Optional(
    Type.Object(
      { line: Type.Integer({ minimum: 1 }), column: Type.Integer({ minimum: 1 }) },
      { title: 'QueryPosition', description: 'Position in the text that was sent, counted from 1.' },
    ),
  ),
  near: Type.Optional(Type.String({ description: 'The text at that position.' })),
  hint: Type.Optional(Type.String({ description: 'What to write instead.' })),
  edits: Type.Optional(TextEditsShape('Changes of your query that do what `hint` proposes.')),
  suggested_sql: Type.Optional(
    Type.String({
      description:
        'The query in the SQL of ClickHouse, where it was written for PostgreSQL, Trino, BigQuery or MySQL. It would be accepted; it was not run. Read it before you send it.',
    }),
  ),
  usage: Type.Optional(
    Type.Object(
      {
        units_held: Type.Integer({ minimum: 0 }),
        units_charged: Type.Integer({ minimum: 0 }),
        balance: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
          description: 'What the organization has left; null where the call was paid for over x402.',
        }),
      },
      { title: 'ChargedUnits', description: 'Query Units that were charged although the call failed.' },
    ),
  ),
});

export type Problem = Static<typeof ProblemShape>;

interface ProblemPlace {
  readonly path: string;
  readonly requestId: string;
  /** '' where the deployment does not know its URL: the link is then relative, which RFC 9457 allows. */
  readonly publicUrl: string;
}

function errorPage(publicUrl: string, code: ErrorCode): string {
  return `${publicUrl}/docs/errors#${code}`;
}

export function problemOf(code: ErrorCode, context: FailureContext, place: ProblemPlace): Problem {
  const { status, title } = ERRORS[code];
  return {
    type: errorPage(place.publicUrl, code),
    title,
    status,
    detail: context.detail,
    instance: place.path,
    code,
    request_id: place.requestId,
    ...(context.parameter === undefined ? {} : { parameter: context.parameter }),
    ...(context.resource === undefined ? {} : { resource: context.resource }),
    ...(context.retryAfterSeconds === undefined ? {} : { retry_after: context.retryAfterSeconds }),
    ...(context.offer === undefined ? {} : offerPart(code, context.offer)),
    ...(context.payment === undefined ? {} : troublePart(code, context.payment)),
    ...(context.query === undefined ? {} : queryPart(context.query)),
    ...(context.charged === undefined ? {} : { usage: usagePart(context.charged) }),
  };
}

function queryPart({ reason, position, near, hint, suggestedSql, edits }: QueryTrouble) {
  return {
    ...(reason === undefined ? {} : { reason }),
    ...(position === undefined ? {} : { position: { line: position.line, column: position.column } }),
    ...(near === undefined ? {} : { near }),
    ...(hint === undefined ? {} : { hint }),
    ...(edits === undefined ? {} : { edits }),
    ...(suggestedSql === undefined ? {} : { suggested_sql: suggestedSql }),
  };
}

function usagePart({ heldQu, chargedQu, balance }: ChargeFacts) {
  return { units_held: heldQu, units_charged: chargedQu, balance };
}

/** The 402 body of x402 version 1, inside the problem. Source: the x402 specification, versions 1 and 2. */
function offerPart(code: ErrorCode, { accepts }: PaymentOffer) {
  const error = code === 'payment_required' ? 'X-PAYMENT header is required' : code;
  // Only chains without a version 1 name are sold: an empty list would read as an offer of nothing; the header has the offer.
  if (accepts.length === 0) return { error };
  return { x402Version: 1 as const, error, accepts: [...accepts] };
}

/** A code may promise more than its stage: a payment in use is worth sending again. */
function troublePart(code: ErrorCode, trouble: PaymentTrouble) {
  const { stage, reason, transaction, authorizationNonce, sinceMs } = trouble;
  return {
    stage,
    retryable: ERRORS[code].retryable || PAYMENT_STAGES[stage].retryable,
    ...(reason === undefined ? {} : { reason }),
    ...(transaction === undefined ? {} : { transaction }),
    ...(authorizationNonce === undefined ? {} : { authorization_nonce: authorizationNonce }),
    ...(sinceMs === undefined ? {} : { since: timeText(Math.floor(sinceMs / 1_000)) }),
  };
}
