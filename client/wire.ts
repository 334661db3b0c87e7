import type { components, operations } from './openapi.ts';

/** Wire types, derived from the OpenAPI document, with the names of the wire. */

/** The operations of the API, without health, readiness, the OpenAPI document and metadata. */
export type OperationId = Exclude<
  keyof operations,
  'getHealth' | 'getReadiness' | 'getOpenApi' | 'getProtectedResource' | 'getOfferList'
>;

/** The named shapes of the document, such as `Schemas['Problem']`. */
export type Schemas = components['schemas'];

/** The object of every error. Source: RFC 9457. */
export type Problem = Schemas['Problem'];

/** The error codes of the service, listed at /docs/errors. */
export type ErrorCode = Problem['code'];

type JsonOf<Reply> = Reply extends { content: { 'application/json': infer Body } } ? Body : never;

type Success<Replies> = Replies extends { 200: infer Reply }
  ? JsonOf<Reply>
  : Replies extends { 201: infer Reply }
    ? JsonOf<Reply>
    : never;

/** The answer of an operation. */
export type Answer<Id extends OperationId> = Success<operations[Id]['responses']>;

type Nothing = Record<never, never>;

type PartOf<Parameters, Place extends string> = Parameters extends { [place in Place]?: infer Values }
  ? [NonNullable<Values>] extends [never]
    ? Nothing
    : NonNullable<Values>
  : Nothing;

/** Flags are texts on the wire; the client takes booleans too. */
type Widened<Value> = string extends Value ? Value : 'true' extends Value ? Value | boolean : Value;

/** An optional parameter may also be undefined, which leaves it out. */
type Flat<Values> = {
  [Name in keyof Values]: Record<never, never> extends Pick<Values, Name>
    ? Widened<Values[Name]> | undefined
    : Widened<Values[Name]>;
};

/** The path and query parameters of an operation, together. */
export type Params<Id extends OperationId> = Flat<
  PartOf<operations[Id]['parameters'], 'path'> & PartOf<operations[Id]['parameters'], 'query'>
>;

type SqlReply = Answer<'runSql'>;

/** The JSON answer of `POST /sql`. The shape of its rows depends on the query. */
export type SqlResult = Extract<SqlReply, { rows: unknown }>;

/** The answer to `explain_only`: the text that would run, and what it would read and cost. */
export type SqlEstimate = Extract<SqlReply, { estimate: unknown }>;

/** A query that runs on its own, how far it is, and where its result is. */
export type SqlJob = Answer<'getSqlJob'>;

/** A likely mistake in a query, such as a constant that matches no row. */
export type SqlWarning = SqlEstimate['warnings'][number];

/** How long a query may run and what it may cost: `standard`, `extended` or `deep`. */
export type SqlTier = SqlEstimate['tier'];
