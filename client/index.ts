export { Call, ListCall, type Reply } from './call.ts';
export { type Client, type ClientOptions, createClient } from './create-client.ts';
export { type ClientErrorCode, SettlementIndexError } from './errors.ts';
export type { JobMethods, JobWaitOptions, SqlJobOptions } from './jobs.ts';
export type { Operations } from './operations.ts';
export {
  type Payer,
  type PaymentOffer,
  type PaymentRequired,
  type PaymentSigner,
  type PaymentTerms,
  payWith,
  type Receipt,
} from './payment.ts';
export type { CallOptions, RetryOptions } from './send.ts';
export type { SqlAnswer, SqlOptions, SqlParam, SqlRow } from './sql.ts';
export type { SqlFacts, SqlFile, SqlFileFormat, SqlRows } from './sql-results.ts';
export type {
  Answer,
  ErrorCode,
  OperationId,
  Params,
  Problem,
  Schemas,
  SqlEstimate,
  SqlJob,
  SqlResult,
  SqlTier,
  SqlWarning,
} from './wire.ts';
