import { Failure, fail } from '../../../core/errors.ts';
import type { RefusalCode } from '../../../sandbox/judge/refusal.ts';
import type { QueryFailure, SandboxText } from '../../../sandbox/sandbox.ts';
import type { BoundSandbox } from '../deps.ts';

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

export interface RefusedText extends SandboxText {
  /** The rule that refused it; absent where planning or running it failed. */
  readonly refusedFor?: RefusalCode;
}

/** The failure with `suggestedSql`, or as it was. */
export async function withSuggestion(
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
