import { EngineError } from '../../../clickhouse/engine/engine.ts';
import { Failure, fail } from '../../../core/errors.ts';
import type { Accepted } from '../../../sandbox/judge/inspect.ts';
import type { QueryParameter } from '../../../sandbox/judge/literals/parameters.ts';
import {
  editsOfWord,
  type Refusal,
  type RefusalCode,
  Refused,
  wordPosition,
} from '../../../sandbox/judge/refusal.ts';
import {
  BUSY_REASONS,
  QueryAbandoned,
  QueryFailed,
  type QueryFailure,
  SandboxBusy,
  type SandboxQuery,
  type SandboxText,
} from '../../../sandbox/sandbox.ts';
import { asUnavailable, writtenAgain } from '../ask.ts';
import type { BoundSandbox, OperationDeps } from '../deps.ts';
import type { SqlBudget } from '../prices.ts';
import { unitsFor } from './bounds.ts';

/** What the sandbox refuses and what fails in it, as failures of a call: what they say, and what they cost. */

/** The name that 503 answers give to what runs queries. */
const RESOURCE = 'sql';

/** The accepted text. Rejects with `invalid_query`, with a suggestion where the text is of another dialect. */
export async function judged(text: SandboxText, sql: OperationDeps['sql']): Promise<Accepted> {
  const verdict = await sql.inspect(text).catch(asNotJudged);
  if (!('refused' in verdict)) return verdict.accepted;
  const { refused } = verdict;
  throw await withSuggestion(invalidQuery(refused), { ...text, refusedFor: refused.code }, sql);
}

/** The placeholders of a text that the engine can read. Rejects like `judged`. */
export async function placeholdersOf(
  text: Pick<SandboxText, 'text' | 'caller'>,
  sql: OperationDeps['sql'],
): Promise<readonly QueryParameter[]> {
  const read = await sql.placeholders(text).catch(asNotJudged);
  if (!('refused' in read)) return read.placeholders;
  const refusedText = { ...text, parameters: {}, refusedFor: read.refused.code };
  throw await withSuggestion(invalidQuery(read.refused), refusedText, sql);
}

/** Planning is given less time than a run, and its memory is not that of the run. */
const PLANNING_LIMITS: ReadonlySet<QueryFailure> = new Set(['timeout', 'memory']);

/** What planning says that a run is sure to fail with; null where it is not sure. */
export async function certainFailure(
  plan: Parameters<OperationDeps['sql']['estimate']>[0],
  sql: OperationDeps['sql'],
): Promise<Refused | QueryFailed | null> {
  const failure: unknown = await sql.estimate(plan).then(
    () => null,
    (error: unknown) => error,
  );
  if (failure instanceof Refused) return failure;
  return failure instanceof QueryFailed && !PLANNING_LIMITS.has(failure.reason) ? failure : null;
}

export function invalidQuery(refusal: Refusal): Failure {
  const { detail, position, near, hint, meant, edits } = refusal;
  return fail('invalid_query', {
    detail,
    // Surfaces with codes of their own look here for the rule.
    cause: new Refused(refusal),
    query: {
      ...(position === undefined ? {} : { position }),
      ...(near === undefined ? {} : { near }),
      ...(hint === undefined ? {} : { hint }),
      ...(meant === undefined ? {} : { meant }),
      ...(edits === undefined ? {} : { edits }),
    },
  });
}

export interface Buyer {
  readonly budget: SqlBudget;
  readonly hasKey: boolean;
  /** As it was sent, for positions and suggestions. */
  readonly text: string;
  readonly parameters: SandboxQuery['parameters'];
}

/** Rejects with the failure, and with a suggestion where the text is of another dialect. */
export async function rejected(
  error: unknown,
  buyer: Buyer,
  { sql, callerName }: { readonly sql: OperationDeps['sql']; readonly callerName: string },
): Promise<never> {
  try {
    return asFailureOf(error, buyer);
  } catch (failure) {
    throw await withSuggestion(failure, { ...buyer, caller: callerName }, sql);
  }
}

/** Faults of the text itself, found by planning before a row was read. */
const OF_THE_TEXT: ReadonlySet<QueryFailure> = new Set([
  'unknown_column',
  'unknown_table',
  'unknown_function',
  'not_grouped',
  'type_error',
  'duplicate_columns',
]);

/**
 * A query that fails before it read a row costs nothing; one that failed later costs its time, or an error at the end would make
 * any query free. One that was stopped, by its deadline or its caller, used its time, whatever it had read.
 */
export function asFailureOf(error: unknown, buyer: Buyer): never {
  if (error instanceof Refused) throw invalidQuery(error.refusal);
  if (error instanceof QueryFailed) throw writtenAgainIn(error) ?? failureOfQuery(error, buyer);
  if (error instanceof QueryAbandoned)
    throw fail('request_timeout', {
      detail: 'The caller left before the answer was there; the query was stopped.',
      query: { reason: 'cancelled' },
      ...(error.chargedMs === null ? {} : { usedQu: unitsFor({ chargedMs: error.chargedMs }, buyer.budget) }),
      cause: error,
    });
  return asNotJudged(error);
}

function writtenAgainIn({ cause }: QueryFailed): Failure | undefined {
  return cause instanceof EngineError ? writtenAgain(cause) : undefined;
}

/** A query whose memory did not suffice costs this, however long it ran: no caller can know it before. */
const MEMORY_FAILURE_QU = 1;

function failureOfQuery(error: QueryFailed, { budget, hasKey, text }: Buyer): Failure {
  const { reason, hint, near, meant, suggestedSql, figures } = error;
  const isStopped = reason === 'timeout' || reason === 'cancelled';
  const ran = figures !== null && (isStopped || figures.rowsRead > 0);
  const position = near === undefined ? undefined : wordPosition(text, near);
  const edits = error.edits === undefined ? editsOfWord(text, near, meant) : { edits: error.edits };
  return fail(!ran && OF_THE_TEXT.has(reason) ? 'invalid_query' : 'query_failed', {
    detail: ran || hasKey ? error.detail : error.ownDetail,
    query: {
      reason,
      ...(position === undefined ? {} : { position }),
      ...(near === undefined ? {} : { near }),
      ...(hint === undefined ? {} : { hint }),
      ...(meant === undefined ? {} : { meant }),
      ...(suggestedSql === undefined ? {} : { suggestedSql }),
      ...edits,
    },
    ...(ran ? { usedQu: reason === 'memory' ? MEMORY_FAILURE_QU : unitsFor(figures, budget) } : {}),
    cause: error,
  });
}

export function asNotJudged(error: unknown): never {
  if (error instanceof SandboxBusy)
    throw fail('rate_limited', {
      detail: BUSY_REASONS[error.reason],
      retryAfterSeconds: error.retryAfterSeconds,
      cause: error,
    });
  throw error instanceof EngineError ? asUnavailable(RESOURCE, error) : error;
}

/** Adds to a refusal the query in ClickHouse's words, where the text was written in another dialect of SQL. */

/** What a text of another dialect is refused for. */
const REFUSED_FOR: ReadonlySet<RefusalCode> = new Set([
  'syntax',
  'identifier',
  'unknown_table',
  'unknown_column',
  'table_function',
  'function',
  'type',
]);

/** What it fails for, where ClickHouse can parse it. */
const FAILED_FOR: ReadonlySet<string> = new Set<QueryFailure>([
  'unknown_column',
  'unknown_table',
  'unknown_function',
  'type_error',
  'value_error',
]);

interface RefusedText extends SandboxText {
  /** The rule that refused it; absent where planning or running it failed. */
  readonly refusedFor?: RefusalCode;
}

/** The failure with `suggestedSql`, or as it was. */
async function withSuggestion(
  failure: unknown,
  text: RefusedText,
  sql: Pick<BoundSandbox, 'suggest'>,
): Promise<unknown> {
  if (!(failure instanceof Failure) || !mayBeAnotherDialect(failure, text)) return failure;
  // The failure knows what was meant.
  if (failure.context.query?.suggestedSql !== undefined) return failure;
  const suggestedSql = await sql.suggest(text);
  if (suggestedSql === null) return failure;
  const { context, code } = failure;
  return fail(code, { ...context, query: { ...context.query, suggestedSql } });
}

function mayBeAnotherDialect({ code, context }: Failure, { refusedFor }: RefusedText): boolean {
  if (code !== 'invalid_query' && code !== 'query_failed') return false;
  if (refusedFor !== undefined) return REFUSED_FOR.has(refusedFor);
  const reason = context.query?.reason;
  return reason === undefined ? code === 'invalid_query' : FAILED_FOR.has(reason);
}
