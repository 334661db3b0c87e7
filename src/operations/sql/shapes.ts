import { type Static, Type } from '@sinclair/typebox';
import { SQL_TIER_IDS } from '../../../core/domain/plan.ts';
import type { Accepted } from '../../../sandbox/judge/inspect.ts';
import type { QueryWarning } from '../../../sandbox/judge/literals/constants.ts';
import { firstWarnings, warningsOfNamed } from '../../../sandbox/judge/literals/constants.ts';
import type { NamedExample } from '../define.ts';
import type { OperationDeps } from '../deps.ts';
import { WARNINGS } from '../index-state/freshness.ts';
import { META_EXAMPLE, type Meta, MetaShape } from '../meta.ts';
import { CountShape, keyOf, oneOf, orNull, TextEditsShape, TimeShape } from '../shapes.ts';

/** What SQL answers look like in JSON. */

/** What SQL answers warn of: a closed vocabulary, in addition to that of every answer. */
export const SQL_WARNINGS = {
  format_ignored: 'The query named a FORMAT, which was dropped: the field `format` chooses.',
  settings_left_out:
    'The query has SETTINGS that change no answer, such as `max_threads` or those of a format: they were left out.',
  prewhere_as_where: 'PREWHERE was read as WHERE: the engine moves conditions forward by itself.',
  totals_left_out:
    'The query asks WITH TOTALS, whose row is not in the answer: WITH ROLLUP gives it as a row.',
  constant_matches_nothing:
    'A column is compared with a constant that no row can have: the answer is that of no match. `replacement` is the literal to write.',
  result_not_kept:
    'There was no room to keep the result: the rows are right, and there is no `result`. The next call runs the query again.',
  empty_is_not_null:
    'A function gives 0, an empty text, 1970-01-01 or nan where it has no row, and standard SQL gives NULL. `replacement` is what gives NULL.',
  alias_hides_column:
    'An alias is called like a column and takes its place in WHERE, GROUP BY, HAVING or QUALIFY, where standard SQL reads the column. `suggested_sql` reads the column.',
  cast_cuts_digits: 'A cast to a decimal with few digits cuts the others off.',
  no_time_filter: 'No condition on block_time or day narrows what is read.',
  ids_are_faster:
    'It groups or joins millions of rows by address. By payer_id, payee_id, wallet_id or counterparty_id it takes a half to a quarter of the time; look the addresses of the result up in wallets.',
  no_key_filter: 'No condition on a key of the table narrows what is read: it is read whole.',
  no_limit:
    'It lists rows without a LIMIT, and reads more of them than `max_rows`, or than a JSON answer has without one.',
  estimate_unavailable: 'The engine did not estimate in time.',
  estimate_needs_key:
    'Without a key only plain queries are estimated: those without subqueries outside FROM, table functions and unusual functions. Send a key for an estimate of this one.',
  may_exceed_memory:
    'An operator that cannot go on disk may hold more than the memory of the query: DISTINCT, an aggregate that keeps every value, a window over all rows, or a join without an equal column.',
  tier_too_small: 'The query may need more time than its tier has.',
  budget_too_small: 'The query may need more time than its `max_qu` pays for.',
  ...WARNINGS,
} as const;

export type SqlWarningCode = keyof typeof SQL_WARNINGS;

const TierShape = oneOf(SQL_TIER_IDS, { title: 'SqlTier' });

export const SqlPositionShape = Type.Object(
  { line: Type.Integer({ minimum: 1 }), column: Type.Integer({ minimum: 1 }) },
  { title: 'SqlPosition', description: 'Position in your text, counted from 1; absent for a parameter.' },
);

const WarningsShape = Type.Array(
  Type.Object(
    {
      code: keyOf(SQL_WARNINGS, { title: 'SqlWarningCode' }),
      message: Type.String({ description: 'What it means, and what to write instead.' }),
      near: Type.Optional(Type.String({ description: 'The part of your text that it is about.' })),
      position: Type.Optional(SqlPositionShape),
      replacement: Type.Optional(
        Type.String({ description: 'What to write there instead of `near`; a literal with its quotes.' }),
      ),
      suggested_sql: Type.Optional(
        Type.String({
          description: 'Your query with the meaning of standard SQL, where a word is not enough.',
        }),
      ),
      edits: Type.Optional(
        TextEditsShape(
          'Changes of your query after which the warning is gone; absent where you have to decide.',
        ),
      ),
    },
    { title: 'SqlWarning' },
  ),
  {
    description: Object.entries(SQL_WARNINGS)
      .map(([code, meaning]) => `\`${code}\`: ${meaning}`)
      .join(' '),
  },
);

export const SqlResultShape = Type.Object(
  {
    columns: Type.Array(
      Type.Object(
        { name: Type.String(), type: Type.String({ description: 'The engine’s type.' }) },
        { title: 'SqlColumn' },
      ),
    ),
    rows: Type.Array(Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Array(Type.Unknown())]), {
      description:
        'Objects by column name, or arrays with `json_compact`. Integers of 64 bits and more and decimals are texts, and so are nan, inf and -inf.',
    }),
    row_count: CountShape,
    truncated: Type.Boolean({ description: 'There are more rows than the answer has: a cap was reached.' }),
    duration_ms: Type.Integer({ minimum: 0, description: 'Engine time.' }),
    statistics: Type.Object(
      { rows_read: CountShape, bytes_read: CountShape, memory_bytes: CountShape },
      { title: 'SqlStatistics' },
    ),
    usage: Type.Object(
      {
        query_tier: TierShape,
        units_held: Type.Integer({ minimum: 0, description: '`max_qu`, or the maximum of the tier.' }),
        units_charged: CountShape,
        balance: orNull(
          Type.Integer({ minimum: 0, description: 'What the organization has left; null on the x402 lane.' }),
        ),
      },
      { title: 'SqlUsage' },
    ),
    meta: MetaShape,
    sql: Type.String({ description: 'The text that ran: yours, as the engine writes it.' }),
    result: Type.Optional(
      Type.Object(
        {
          id: Type.String({ description: '`GET /v0/results/{result}` gives it again, in any format.' }),
          row_count: CountShape,
          created_at: TimeShape,
          expires_at: TimeShape,
          snapshot: orNull(Type.String({ description: 'What was final when the query ran.' })),
          is_of_snapshot: Type.Boolean({
            description:
              'True: it was asked `as_of` the snapshot, and can be asked so again. False: it also read rows that were not final.',
          }),
          sha256: orNull(
            Type.String({
              pattern: '^[0-9a-f]{64}$',
              description: 'Hash of the rows as they are stored, the same in every format and page.',
            }),
          ),
        },
        { title: 'KeptResult', description: 'The kept result that the answer is made from.' },
      ),
    ),
    next_offset: Type.Optional(
      orNull(Type.Integer({ minimum: 1, description: '`offset` of the next page of a kept result.' })),
    ),
    warnings: Type.Optional(WarningsShape),
  },
  { title: 'SqlResult' },
);

const NullableCount = (description: string) => orNull(Type.Integer({ minimum: 0, description }));

/** The answer to `explain_only`. */
export const SqlEstimateShape = Type.Object(
  {
    sql: Type.String({ description: 'The text that would run.' }),
    tables: Type.Array(Type.String()),
    estimate: Type.Object(
      {
        rows_to_read: NullableCount(
          'By the engine’s index analysis. An estimate: a bare count() reads more than estimated. Null when the analysis did not end in time.',
        ),
        bytes_to_read: NullableCount('Uncompressed, from the average row.'),
        rows_joined_max: NullableCount(
          'Rows that its joins make at most: the product of both sides of each, but where a row finds one partner at most. 0 without joins.',
        ),
        qu_min: CountShape,
        qu_max: Type.Integer({
          minimum: 0,
          description:
            'With all rows that its joins may make, and never above `max_qu`. Estimated without one, it is what to send as `max_qu`.',
        }),
      },
      { title: 'SqlReadEstimate' },
    ),
    tier: TierShape,
    advised_tier: oneOf(SQL_TIER_IDS, {
      title: 'SqlTier',
      description: 'The smallest tier whose time is likely to be enough.',
    }),
    meta: MetaShape,
    warnings: WarningsShape,
  },
  { title: 'SqlEstimate' },
);

const { chain, as_of, snapshot, freshness } = META_EXAMPLE;

export const SQL_EXAMPLE: Static<typeof SqlResultShape> = {
  columns: [
    { name: 'payee', type: 'String' },
    { name: 'usd', type: 'Nullable(Decimal(38, 6))' },
  ],
  rows: [{ payee: '0x4020615294c913f045dc10f0a5cdebd86c280001', usd: '1284.03' }],
  row_count: 1,
  truncated: false,
  duration_ms: 48,
  statistics: { rows_read: 81_920, bytes_read: 4_423_680, memory_bytes: 9_437_184 },
  usage: { query_tier: 'standard', units_held: 3, units_charged: 1, balance: 199 },
  meta: { chain, as_of, snapshot, freshness },
  sql: 'SELECT payee, sum(amount_usd) AS usd FROM settlements WHERE block_time > (now() - toIntervalDay(1)) GROUP BY payee ORDER BY usd DESC LIMIT 1',
};

/** As an answer has it. */
export interface SqlWarning extends Omit<QueryWarning, 'code' | 'message'> {
  readonly code: SqlWarningCode;
  readonly message: string;
}

/** The warnings that a caller reads; `hasZero` is false of an answer whose `zeroColumns` were seen to hold none. */
export function shownWarnings(warnings: readonly SqlWarning[], hasZero = true): SqlWarning[] {
  return warnings.flatMap(({ zeroColumns, ...shown }) =>
    zeroColumns === undefined || hasZero ? [shown] : [],
  );
}

export function sqlWarning(warning: Omit<SqlWarning, 'message'> & { readonly message?: string }): SqlWarning {
  const { code, message, ...where } = warning;
  return { code, message: message ?? SQL_WARNINGS[code], ...where };
}

/** Warnings about the text, from the sandbox and from the state of the index. */
export async function textWarnings(
  { warnings, namedConstants, tables }: Accepted,
  { deployment: { chains }, index: { names } }: Pick<OperationDeps, 'deployment' | 'index'>,
): Promise<SqlWarning[]> {
  if (namedConstants.length === 0) return warnings.map(sqlWarning);
  const { facilitatorIds } = await names.of([]);
  const known = {
    // The directory lists resources on any chain.
    chains: tables.includes('endpoints') ? [] : chains.map(String),
    facilitators: facilitatorIds(),
  };
  return firstWarnings([...warnings, ...warningsOfNamed(namedConstants, known)]).map(sqlWarning);
}

/** Requests and answers of SQL as the documentation shows them. */

const WALLET = '0x4020615294c913f045dc10f0a5cdebd86c280001';

/** Those about the text, and those about the index. */
export async function warningsOf(accepted: Accepted, deps: OperationDeps, meta: Meta): Promise<SqlWarning[]> {
  return [
    ...(await textWarnings(accepted, deps)),
    ...(meta.warnings ?? []).map((code) => sqlWarning({ code })),
  ];
}

export const SQL_REQUEST_EXAMPLES: Readonly<Record<string, NamedExample>> = {
  query: {
    summary: 'Who earned most within a day.',
    value: { sql: SQL_EXAMPLE.sql, max_rows: 1_000 },
  },
  budget: {
    summary: 'At most one unit: 5 seconds, or 0.01 USD over x402.',
    value: { sql: SQL_EXAMPLE.sql, max_qu: 1 },
  },
  parameters: {
    summary: 'Values apart from the text, never inside of it; the result as CSV.',
    value: {
      sql: "SELECT counterparty, count() AS payments, sum(amount_usd) AS usd FROM wallet_settlements WHERE wallet = {wallet:String} AND role = 'payer' GROUP BY counterparty ORDER BY usd DESC LIMIT 20",
      params: { wallet: WALLET },
      format: 'csv',
    },
  },
  explain_only: {
    summary: 'What a query would read and cost; free.',
    value: {
      sql: 'SELECT payee, sum(settled_usd) AS usd FROM merchant_days WHERE day >= today() - 90 GROUP BY payee ORDER BY usd DESC LIMIT 20',
      explain_only: true,
    },
  },
};

const COMPACT: Static<typeof SqlResultShape> = {
  ...SQL_EXAMPLE,
  rows: SQL_EXAMPLE.rows.map((row) => Object.values(row)),
};

const ESTIMATE: Static<typeof SqlEstimateShape> = {
  sql: 'SELECT payee, sum(settled_usd) AS usd FROM merchant_days WHERE day >= (today() - 90) GROUP BY payee ORDER BY usd DESC LIMIT 20',
  tables: ['merchant_days'],
  estimate: { rows_to_read: 48_213, bytes_to_read: 3_856_000, rows_joined_max: 0, qu_min: 1, qu_max: 1 },
  tier: 'standard',
  advised_tier: 'standard',
  meta: SQL_EXAMPLE.meta,
  warnings: [],
};

export const SQL_ANSWER_EXAMPLES: Readonly<Record<string, NamedExample>> = {
  json_compact: { summary: 'With the format `json_compact`.', value: COMPACT },
  explain_only: { summary: 'To `explain_only`.', value: ESTIMATE },
};
