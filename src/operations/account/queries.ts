import { Type } from '@sinclair/typebox';
import {
  QUERIES_KEPT_DAYS,
  QUERIES_KEPT_MS,
  QUERY_TEXT_MAX_CHARS,
  type QueryRun,
} from '../../../core/domain/usage.ts';
import { beforeParam, limitParam } from '../common-params.ts';
import { defineOperation } from '../define.ts';
import { invalid, type Param, quoted } from '../params.ts';
import { PRICES } from '../prices.ts';
import { CountShape, nowText, orNull, TimeShape } from '../shapes.ts';
import type { AccountDeps } from './own-account.ts';
import { organizationScope } from './scope.ts';

/** The runs of SQL of an organization, for its own eyes. */

const ALL = 'all';
const QUERY_ID = /^qry_[0-9a-f-]{36}$/;
const CURSOR = /^(\d{1,16})\.(qry_[0-9a-f-]{36})$/;

const QueryShape = Type.Object(
  {
    id: Type.String(),
    started_at: TimeShape,
    duration_ms: CountShape,
    surface: Type.String({ description: 'http, mcp or clickhouse.' }),
    key: orNull(Type.String({ description: 'The key that it came with; null for a bearer token.' })),
    tier: Type.String(),
    max_qu: Type.Integer({ minimum: 0, description: 'The most that it could cost.' }),
    units_charged: CountShape,
    rows: orNull(CountShape),
    status: Type.String({
      description:
        '`succeeded`, `cancelled` where its caller stopped it or left, the code of its failure, or of a job `expired`.',
    }),
    sql: Type.String(),
    sql_cut: Type.Boolean({
      description: `Whether the text was longer than ${QUERY_TEXT_MAX_CHARS} characters.`,
    }),
  },
  { title: 'QueryRun' },
);

export const listAccountQueries = defineOperation({
  id: 'listAccountQueries',
  wire: {
    path: '/account/queries',
    params: { limit: limitParam, before: beforeParam },
    output: Type.Object({
      queries: Type.Array(QueryShape),
      next_before: orNull(Type.String()),
    }),
    fails: ['api_key_required'],
    paging: 'before',
  },
  words: {
    summary: 'The account’s SQL history, newest first',
    description: `Every query of the last ${QUERIES_KEPT_DAYS} days that was checked or run, over any interface, with its text; jobs are included once they have ended. At most the latest 10,000. Only the organization sees them: a key that manages keys, and a bearer token, see all; any other key sees its own. They are not in backups, and \`DELETE\` removes them at once. Runs appear within seconds.`,
    tool: 'The SQL that your account ran: text, rows, units, status.',
    example: {
      queries: [
        {
          id: 'qry_7b0c4a5e-6f0a-4a53-9d7e-0d8f1c2b3a49',
          started_at: '2026-11-25T09:15:04Z',
          duration_ms: 48,
          surface: 'mcp',
          key: 'key_0b6f4c1d-9a57-4a0e-8f3c-2d1e0f9a8b7c',
          tier: 'standard',
          max_qu: 3,
          units_charged: 1,
          rows: 1,
          status: 'succeeded',
          sql: 'SELECT count() FROM settlements WHERE block_time >= now() - INTERVAL 1 DAY',
          sql_cut: false,
        },
      ],
      next_before: null,
    },
  },
  money: { price: PRICES.free, load: 'none' },
  check: ({ limit, before }) => ({ limit, before: before === undefined ? null : readCursor(before) }),
  run: async ({ limit, before }, { accounts, clock }: AccountDeps, { caller }) => {
    const page = await accounts.queries({ of: organizationScope(caller), before, limit: limit + 1 });
    const since = clock.nowMs() - QUERIES_KEPT_MS;
    const kept = page.filter(({ startedAtMs }) => startedAtMs > since);
    const shown = kept.slice(0, limit);
    const last = shown.at(-1);
    return {
      queries: shown.map(queryAnswer),
      next_before: last !== undefined && kept.length > limit ? `${last.startedAtMs}.${last.id}` : null,
    };
  },
});

/** Unsigned: whatever it says, the page is of the caller's own list. */
function readCursor(text: string): Pick<QueryRun, 'startedAtMs' | 'id'> {
  const [, at, id] = CURSOR.exec(text) ?? [];
  if (id === undefined) throw invalid('before', 'before must be a cursor as returned in next_before.');
  return { startedAtMs: Number(at), id };
}

function queryAnswer(run: QueryRun) {
  return {
    id: run.id,
    started_at: nowText(run.startedAtMs),
    duration_ms: run.durationMs,
    surface: run.surface,
    key: run.keyId === '' ? null : run.keyId,
    tier: run.tier,
    max_qu: run.budgetQu,
    units_charged: run.chargedQu,
    rows: run.rows,
    status: run.status,
    sql: run.text,
    sql_cut: run.textCut,
  };
}

const queryParam: Param<string | null> = {
  in: 'path',
  description: 'Id of a run as the list has it, or `all`.',
  toolText: 'Its id, or all.',
  required: true,
  schema: Type.String({ pattern: '^(all|qry_[0-9a-f-]{36})$' }),
  example: ALL,
  read: (raw, name) => {
    if (raw === ALL) return null;
    if (typeof raw === 'string' && QUERY_ID.test(raw)) return raw;
    throw invalid(name, `${name} must be the id of a run, qry_…, or ${ALL}, not ${quoted(raw)}.`);
  },
};

export const forgetAccountQueries = defineOperation({
  id: 'forgetAccountQueries',
  wire: {
    method: 'DELETE',
    path: '/account/queries/{query}',
    params: { query: queryParam },
    output: Type.Object({ forgotten: CountShape }),
    fails: ['api_key_required'],
  },
  words: {
    summary: 'Delete one run from the SQL history, or all',
    description:
      'A deleted run cannot be restored, not even from a backup; its charge stays in the ledger and in the usage. `all` deletes every run that the caller may see. Repeating the call changes nothing.',
    tool: 'Forget the text and figures of one query that your account ran, or of all.',
    example: { forgotten: 12 },
  },
  money: { price: PRICES.free, load: 'none' },
  access: { changes: 'removes' },
  run: async ({ query }, { accounts }: AccountDeps, { caller }) => ({
    forgotten: await accounts.forgetQueries({ of: organizationScope(caller), id: query }),
  }),
});
