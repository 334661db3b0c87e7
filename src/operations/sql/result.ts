import { Type } from '@sinclair/typebox';
import { CURSOR_MAX_CHARS, readResultToken } from '../../../core/domain/cursor.ts';
import { SQL_TIER_IDS } from '../../../core/domain/plan.ts';
import { fail } from '../../../core/errors.ts';
import { NUMBER_FORMS, type NumberForm } from '../../../sandbox/sandbox.ts';
import type { KeptResult } from '../../results/results.ts';
import type { Outcome } from '../answer.ts';
import { defineOperation } from '../define.ts';
import type { CallContext } from '../deps.ts';
import { SNAPSHOT_EXAMPLE } from '../meta.ts';
import { invalid, type Param, quoted } from '../params.ts';
import { PRICES } from '../prices.ts';
import { SQL_FACT_HEADERS } from './answer.ts';
import { keptOutcome, keptSqlOf, type SqlDeps } from './kept.ts';
import { pageRowsMax, RESULT_PAGE_PARAMS } from './page.ts';
import { csvNullParam, numbersOf, SQL_ANSWER_MEDIA, SQL_FORMATS, type SqlFormat } from './params.ts';
import { SQL_EXAMPLE, SqlResultShape } from './shapes.ts';

/** A kept result, in any format, as often as it is wanted. */

const RESULT_EXAMPLE = '5f'.repeat(32);

export const resultParam: Param<string> = {
  in: 'path',
  description: 'The id of the result, as its job or answer gives it.',
  toolText: 'Id of the result.',
  required: true,
  schema: Type.String({ pattern: '^[0-9a-f]{64}$' }),
  example: RESULT_EXAMPLE,
  read: (raw, name) => {
    if (typeof raw === 'string' && /^[0-9a-f]{64}$/.test(raw)) return raw;
    throw invalid(name, `${name} must be the id of a result, 64 hex digits, not ${quoted(raw)}.`);
  },
};

function choiceParam<Choice extends string, Standard extends Choice | undefined>(facts: {
  readonly description: string;
  readonly toolText: string;
  readonly choices: readonly Choice[];
  readonly standard: Standard;
}): Param<Choice | Standard> {
  const { choices, standard, description, toolText } = facts;
  return {
    in: 'query',
    description,
    toolText,
    required: false,
    schema: Type.Union(
      choices.map((choice) => Type.Literal(choice)),
      standard === undefined ? {} : { default: standard },
    ),
    read: (raw, name) => {
      if (raw === undefined) return standard;
      const choice = choices.find((known) => known === raw);
      if (choice !== undefined) return choice;
      throw invalid(name, `${name} must be one of ${choices.join(', ')}, not ${quoted(raw)}.`);
    },
  };
}

const tokenParam: Param<string | undefined> = {
  in: 'query',
  description:
    'Of a signed link (`signed_url` of a job): it stands for the key that asked for it, until it or that key expires or the key is revoked. Or of a link to the result (`POST /v0/results/{result}/shares`), until it is revoked.',
  toolText: '',
  required: false,
  schema: Type.String({ maxLength: CURSOR_MAX_CHARS }),
  read: (raw, name) => {
    if (raw === undefined || typeof raw === 'string') return raw;
    throw invalid(name, `${name} must be the token of a signed link, not ${quoted(raw)}.`);
  },
};

export const getResult = defineOperation({
  id: 'getResult',
  wire: {
    path: '/results/{result}',
    params: {
      result: resultParam,
      format: choiceParam<SqlFormat, SqlFormat>({
        description: 'As of `POST /v0/sql`; without it the Accept header chooses.',
        toolText: 'json (the default) or json_compact.',
        choices: SQL_FORMATS,
        standard: 'json',
      }),
      numbers: choiceParam<NumberForm, undefined>({
        description: 'As of `POST /v0/sql`.',
        toolText: '',
        choices: NUMBER_FORMS,
        standard: undefined,
      }),
      csv_null: { ...csvNullParam, in: 'query' as const },
      ...RESULT_PAGE_PARAMS,
      token: tokenParam,
    },
    output: SqlResultShape,
    media: SQL_ANSWER_MEDIA,
    answerHeaders: SQL_FACT_HEADERS,
    fails: ['invalid_parameter', 'query_failed', 'result_not_found', 'upstream_unavailable'],
    // Not a list: an answer has its columns, too.
    paging: 'none',
  },
  words: {
    summary: 'A kept result',
    description:
      'The result of a job, or of a query with `max_age`: paged as JSON with `offset` and `limit`, or whole in another format. Free, any number of times, for the organizations that received it as an answer, and for the holder of a signed link. Rows and their order never change. `sql`, `result.snapshot` and `result.sha256` cite it: text, state of the index, and hash.',
    tool: 'Rows of a kept result, page by page: the result of a job, or of a query with max_age.',
    example: {
      ...SQL_EXAMPLE,
      usage: { query_tier: 'standard', units_held: 0, units_charged: 0, balance: null },
      result: {
        id: RESULT_EXAMPLE,
        row_count: 1,
        created_at: '2026-11-20T12:00:00.000Z',
        expires_at: '2026-11-27T12:00:00.000Z',
        snapshot: SNAPSHOT_EXAMPLE,
        is_of_snapshot: false,
        sha256: '9c'.repeat(32),
      },
      next_offset: null,
    },
  },
  money: { price: PRICES.free, load: 'page' },
  run: async (
    { result: id, token, format, numbers, csv_null: csvNull, limit, offset },
    deps: SqlDeps,
    context,
  ): Promise<Outcome> => {
    const kept = await readable({ id, token }, deps, context);
    const maxRows = Math.min(pageRowsMax(format, limit), Math.max(0, kept.rows - offset));
    const tier = SQL_TIER_IDS.find((known) => known === kept.run.tier) ?? 'standard';
    const form = {
      ...{ format, numbers: numbersOf(format, numbers), maxRows, tier, offset },
      ...(csvNull === undefined ? {} : { csvNull }),
    };
    return keptOutcome(kept, form, { deps, usedQu: null });
  },
});

/** A link is good until its time is over or the key ends that it was given to, whichever comes first. */
async function isGranted(
  { id, token }: { readonly id: string; readonly token: string },
  deps: SqlDeps,
): Promise<boolean> {
  const { cursorKeys, clock, accounts } = deps;
  const grant = readResultToken(cursorKeys, token);
  if (grant === undefined) return isShared({ id, token }, deps);
  if (grant.id !== id || grant.untilMs <= clock.nowMs()) return false;
  return grant.signer === null || (await accounts.keys.endOf(grant.signer)) === null;
}

/** Whether the token is of a link that the owner made, and did not revoke. */
async function isShared(
  { id, token }: { readonly id: string; readonly token: string },
  deps: SqlDeps,
): Promise<boolean> {
  const share = await keptSqlOf(deps).shares.find(token);
  return share?.resultId === id && share.state === 'open';
}

/** The same answer for a result that is not there and one of others: ids are no secrets. */
async function readable(
  { id, token }: { readonly id: string; readonly token: string | undefined },
  deps: SqlDeps,
  { caller: { organization } }: CallContext,
): Promise<KeptResult> {
  const { results } = keptSqlOf(deps);
  const kept = await results.find(id);
  if (kept !== null) {
    if (token !== undefined && (await isGranted({ id, token }, deps))) return kept;
    if (organization !== null && (await results.mayRead(kept, organization.id))) return kept;
  }
  throw fail('result_not_found', { detail: 'There is no result of this id that you may read.' });
}
