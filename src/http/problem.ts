import { type Static, Type } from '@sinclair/typebox';
import { ERROR_CODES, ERRORS, type ErrorCode, type FailureContext } from '../errors.ts';

/** The error answer, `application/problem+json`. Source: RFC 9457, api.md 1. */

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

export const ProblemShape = Type.Object({
  type: Type.String({ format: 'uri-reference', description: 'Documentation of the code.' }),
  title: Type.String(),
  status: Type.Integer({ minimum: 400, maximum: 599 }),
  detail: Type.String({ description: 'What happened in this request.' }),
  instance: Type.String({ format: 'uri-reference', description: 'The path that was asked for.' }),
  code: Type.Unsafe<ErrorCode>({ type: 'string', enum: [...ERROR_CODES] }),
  request_id: Type.String(),
  parameter: Type.Optional(Type.String({ description: 'The parameter at fault.' })),
  resource: Type.Optional(Type.String({ description: 'What could not be read.' })),
  retry_after: Type.Optional(Type.Integer({ minimum: 1, description: 'Seconds, as in Retry-After.' })),
});

export type Problem = Static<typeof ProblemShape>;

export interface ProblemPlace {
  readonly path: string;
  readonly requestId: string;
  /** '' where the deployment does not know its URL: the link is then relative, which RFC 9457 allows. */
  readonly publicUrl: string;
}

export function errorPage(publicUrl: string, code: ErrorCode): string {
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
  };
}
