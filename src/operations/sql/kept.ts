import { EngineError } from '../../../clickhouse/engine/engine.ts';
import { fail } from '../../../core/errors.ts';
import { QueryFailed } from '../../../sandbox/sandbox.ts';
import type { KeptResult, RunFacts } from '../../results/results.ts';
import type { OwnKeys } from '../account/own-account.ts';
import type { Outcome } from '../answer.ts';
import { asUnavailable } from '../ask.ts';
import type { OperationDeps } from '../deps.ts';
import { WARNINGS } from '../index-state/freshness.ts';
import type { Meta } from '../meta.ts';
import type { KeptTables } from '../own-tables.ts';
import { engineRequest, openAnswer, type SqlAnswerFacts } from './answer.ts';
import type { KeptSql, Obtained } from './obtain.ts';
import { type SqlWarning, sqlWarning } from './shapes.ts';

/** Answers from kept results. */

export interface SqlDeps extends OperationDeps {
  /** Null where this deployment keeps no results. */
  readonly kept: KeptSql | null;
  /** A signed link ends with the key that asked for it. */
  readonly accounts: { readonly keys: Pick<OwnKeys, 'endOf'>; readonly tables: KeptTables };
}

/** The units that an answer costs: the units of its run, none where the organization paid for the result before, one for others. */
export async function unitsForKept(
  { kept, isOwn }: Obtained,
  ownQu: number,
  organizationId: string | null,
  { results }: Pick<KeptSql, 'results'>,
): Promise<number> {
  if (isOwn) return ownQu;
  // Of one that is not kept, no list says who was answered with it.
  if (organizationId === null || !kept.isKept) return 1;
  // Most calls are not the first, and a look waits for no disk. Of many first calls at once, one is charged.
  if (await results.mayRead(kept, organizationId)) return 0;
  return (await results.allow(kept, organizationId)) ? 1 : 0;
}

/** An answer that is made from a kept result, as its query would have been answered. */
export async function keptOutcome(
  kept: KeptResult,
  form: Pick<SqlAnswerFacts, 'format' | 'numbers' | 'maxRows' | 'csvNull' | 'tier'> & {
    readonly offset?: number;
  },
  {
    deps,
    usedQu,
    ofText,
  }: {
    readonly deps: Pick<SqlDeps, 'kept'>;
    readonly usedQu: number | null;
    /** Warnings about the text of this call, in place of those about the text that was run. */
    readonly ofText?: readonly SqlWarning[];
  },
): Promise<Outcome> {
  const { maxRows, offset = 0 } = form;
  const result = await keptSqlOf(deps)
    .results.read(kept, { ...engineRequest(form), offset })
    .catch(asReadFailure);
  // Written by the run (obtain.ts).
  const {
    sql,
    warnings: ofRun,
    meta,
  } = kept.run as Omit<RunFacts, 'warnings' | 'meta'> & {
    readonly warnings: readonly SqlWarning[];
    readonly meta: Meta;
  };
  const warnings =
    ofText === undefined ? ofRun : [...ofText, ...ofRun.filter(({ code }) => Object.hasOwn(WARNINGS, code))];
  const facts: SqlAnswerFacts = {
    ...form,
    sql,
    warnings: kept.isKept ? warnings : [...warnings, sqlWarning({ code: 'result_not_kept' })],
    meta,
    ...(kept.isKept ? { resultId: kept.id } : {}),
    more: kept.isKept ? keptFields(kept, meta, offset + maxRows) : {},
  };
  const pending = await openAnswer(result, facts);
  return {
    usedQu,
    answer: (charge) => ({ stream: pending.complete(charge) }),
    discard: () => void result.body.destroy(),
  };
}

/** `end`: the row behind the last one of the page. */
function keptFields(kept: KeptResult, meta: Meta, end: number): Readonly<Record<string, unknown>> {
  return {
    result: {
      id: kept.id,
      row_count: kept.rows,
      created_at: isoTime(kept.createdAtMs),
      expires_at: isoTime(kept.expiresAtMs),
      snapshot: meta.snapshot ?? null,
      // Answers of snapshots alone say what they leave out.
      is_of_snapshot: meta.left_out !== undefined,
      sha256: kept.sha256 ?? null,
    },
    next_offset: end < kept.rows ? end : null,
  };
}

function asReadFailure(error: unknown): never {
  if (error instanceof QueryFailed)
    throw fail('query_failed', {
      detail: error.detail,
      query: { reason: error.reason, ...(error.hint === undefined ? {} : { hint: error.hint }) },
      cause: error,
    });
  throw error instanceof EngineError ? asUnavailable('results', error) : error;
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Throws `Failure` where this deployment keeps no results. */
export function keptSqlOf({ kept }: Pick<SqlDeps, 'kept'>): KeptSql {
  if (kept !== null) return kept;
  throw fail('not_found', { detail: 'This deployment keeps no results and runs no jobs.' });
}
