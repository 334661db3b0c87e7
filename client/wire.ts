import type { components, operations } from './openapi.ts';

/** What goes over the wire, as types: derived from the OpenAPI document, in the wire's own names. */

/** Operations of the API. Those beside it (health, readiness, this description, metadata) are left out. */
export type OperationId = Exclude<
  keyof operations,
  'getHealth' | 'getReadiness' | 'getOpenApi' | 'getProtectedResource' | 'getOfferList'
>;

/** The named shapes of the document: `Schemas['Problem']` and the like. */
export type Schemas = components['schemas'];

/** The object of every error. Source: RFC 9457. */
export type Problem = Schemas['Problem'];

/** Codes that the service answers with: https://…/docs/errors. */
export type ErrorCode = Problem['code'];

type JsonOf<Reply> = Reply extends { content: { 'application/json': infer Body } } ? Body : never;

type Success<Replies> = Replies extends { 200: infer Reply }
  ? JsonOf<Reply>
  : Replies extends { 201: infer Reply }
    ? JsonOf<Reply>
    : never;

/** What an operation answers. */
export type Answer<Id extends OperationId> = Success<operations[Id]['responses']>;

type Nothing = Record<never, never>;

type PartOf<Parameters, Place extends string> = Parameters extends { [place in Place]?: infer Values }
  ? [NonNullable<Values>] extends [never]
    ? Nothing
    : NonNullable<Values>
  : Nothing;

/** Flags are texts on the wire; a boolean becomes one. */
type Widened<Value> = string extends Value ? Value : 'true' extends Value ? Value | boolean : Value;

/** An optional parameter may also be undefined: that leaves it out. */
type Flat<Values> = {
  [Name in keyof Values]: Record<never, never> extends Pick<Values, Name>
    ? Widened<Values[Name]> | undefined
    : Widened<Values[Name]>;
};

/** What an operation takes: its path and query parameters, together. */
export type Params<Id extends OperationId> = Flat<
  PartOf<operations[Id]['parameters'], 'path'> & PartOf<operations[Id]['parameters'], 'query'>
>;

type SqlReply = Answer<'runSql'>;

/** What `POST /sql` answers in JSON; `rows` apart, whose shape is the query's. */
export type SqlResult = Extract<SqlReply, { rows: unknown }>;

/** What `explain_only` answers: the text that would run, and what it would read and cost. */
export type SqlEstimate = Extract<SqlReply, { estimate: unknown }>;

/** What of a query is not what its writer thinks, such as a constant that no row can have. */
export type SqlWarning = SqlEstimate['warnings'][number];

/** `standard`, `extended`, `deep`: how long a query may run and what it may cost. */
export type SqlTier = SqlEstimate['tier'];
