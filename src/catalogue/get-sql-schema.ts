import { type Static, Type } from '@sinclair/typebox';
import { loadFunctionCatalogue } from '../../sandbox/function-catalogue.ts';
import { TABLE_FUNCTIONS } from '../../sandbox/policy.ts';
import { PUBLIC_TABLE_NAMES, PUBLIC_TABLES, type PublicTable } from '../domain/public-tables.ts';
import { SQL_SECONDS_PER_QU } from '../domain/query-unit.ts';
import { MetaShape, metaAnswer } from './list-meta.ts';
import { defineOperation } from './operation.ts';
import { PRICES, SQL_TIERS } from './prices.ts';
import { CountShape } from './shapes.ts';
import { SQL_ANSWER_MAX_BYTES } from './sql-answer.ts';
import { SQL_FORMATS, SQL_MEDIA, SQL_PARAMETERS_MAX, SQL_TEXT_MAX_BYTES } from './sql-params.ts';
import { SQL_EXAMPLE } from './sql-shapes.ts';

/** What SQL may read and use, for whoever writes it. Source: api.md 3, 5. */

const TableShape = Type.Object(
  {
    name: Type.String(),
    meaning: Type.String(),
    row_count: Type.Integer({
      minimum: 0,
      description:
        'About: rows as they are stored; of the day tables those of days that were added up already, the days since are added up when they are asked for. count() of the table is exact.',
    }),
    cheap_by: Type.Array(Type.String(), {
      description: 'Columns by which a constant in WHERE reads little, the most helpful first.',
    }),
    columns: Type.Array(
      Type.Object(
        { name: Type.String(), type: Type.String(), meaning: Type.String() },
        { title: 'SqlTableColumn' },
      ),
    ),
  },
  { title: 'SqlTable' },
);

const LimitsShape = Type.Object(
  {
    text_bytes: CountShape,
    parameters: CountShape,
    answer_bytes: CountShape,
    seconds_per_qu: CountShape,
    tiers: Type.Array(
      Type.Object(
        {
          tier: Type.String(),
          timeout_seconds: CountShape,
          max_qu: CountShape,
          requests_per_minute: CountShape,
        },
        { title: 'SqlTierLimits' },
      ),
    ),
    formats: Type.Array(
      Type.Object(
        { format: Type.String(), media_type: Type.String(), max_rows: CountShape },
        { title: 'SqlFormatLimits' },
      ),
    ),
  },
  { title: 'SqlLimits' },
);

const EXAMPLES = [
  {
    question: 'What was settled on each day of the last week?',
    sql: 'SELECT toDate(block_time) AS day, count() AS settlements, sum(amount_usd) AS usd FROM settlements WHERE block_time > now() - INTERVAL 7 DAY GROUP BY day ORDER BY day',
  },
  {
    question: 'Whom did a wallet pay most?',
    sql: "SELECT counterparty, count() AS payments, sum(amount_usd) AS usd FROM wallet_settlements WHERE wallet = {wallet:String} AND role = 'payer' GROUP BY counterparty ORDER BY usd DESC LIMIT 20",
  },
  {
    question: 'Which merchants grew over the last 90 days?',
    sql: 'SELECT payee, sum(settled_usd) AS usd FROM merchant_days WHERE day >= today() - 90 GROUP BY payee ORDER BY usd DESC LIMIT 20',
  },
] as const;

const LIMITS: Static<typeof LimitsShape> = {
  text_bytes: SQL_TEXT_MAX_BYTES,
  parameters: SQL_PARAMETERS_MAX,
  answer_bytes: SQL_ANSWER_MAX_BYTES,
  seconds_per_qu: SQL_SECONDS_PER_QU,
  tiers: SQL_TIERS.map(({ tier, timeoutSeconds, maxQu, requestsPerMinute }) => ({
    tier,
    timeout_seconds: timeoutSeconds,
    max_qu: maxQu,
    requests_per_minute: requestsPerMinute,
  })),
  formats: SQL_FORMATS.map((format) => ({
    format,
    media_type: SQL_MEDIA[format].mediaType,
    max_rows: SQL_MEDIA[format].rowsMax,
  })),
};

/** Read once: the list is pinned with the engine. */
let functionNames: string[] | undefined;

function allowedFunctions(): string[] {
  functionNames ??= [...loadFunctionCatalogue().names].sort((a, b) => Number(a > b) - Number(a < b));
  return functionNames;
}

export const getSqlSchema = defineOperation({
  id: 'getSqlSchema',
  method: 'GET',
  path: '/sql/schema',
  summary: 'What SQL may read: tables, columns, functions and limits',
  description:
    'The public tables with every column and its meaning, which predicates are cheap, about how many rows there are, the functions that may be used (aggregate functions also with combinators such as `sumIf`), limits, and examples.',
  price: PRICES.free,
  load: 'none',
  params: {},
  output: Type.Object({
    tables: Type.Array(TableShape),
    functions: Type.Array(Type.String()),
    table_functions: Type.Array(Type.String()),
    limits: LimitsShape,
    examples: Type.Array(
      Type.Object({ question: Type.String(), sql: Type.String() }, { title: 'SqlExample' }),
    ),
    meta: MetaShape,
  }),
  fails: ['upstream_unavailable'],
  paging: 'none',
  caching: 'revalidate',
  acceptsUnknownKey: false,
  example: {
    tables: [
      {
        name: 'merchant_days',
        meaning: PUBLIC_TABLES.merchant_days.meaning,
        row_count: 48_213,
        cheap_by: [...PUBLIC_TABLES.merchant_days.cheapBy],
        columns: PUBLIC_TABLES.merchant_days.columns.map(({ name, type, meaning }) => ({
          name,
          type,
          meaning,
        })),
      },
    ],
    functions: ['avg', 'count', 'sum', 'toDate'],
    table_functions: [...TABLE_FUNCTIONS],
    limits: LIMITS,
    examples: [EXAMPLES[0]],
    meta: SQL_EXAMPLE.meta,
  },
  run: async (_input, { publicTableRows, freshness, chains, clock }) => {
    const [counts, statuses] = await Promise.all([publicTableRows.counts(), freshness.statuses()]);
    return {
      tables: PUBLIC_TABLE_NAMES.map((name) => {
        const { meaning, cheapBy, columns }: PublicTable = PUBLIC_TABLES[name];
        return {
          name,
          meaning,
          row_count: counts.get(name) ?? 0,
          cheap_by: [...cheapBy],
          columns: columns.map(({ name, type, meaning }) => ({ name, type, meaning })),
        };
      }),
      functions: allowedFunctions(),
      table_functions: [...TABLE_FUNCTIONS],
      limits: LIMITS,
      examples: EXAMPLES.map((example) => ({ ...example })),
      meta: metaAnswer({ chain: undefined, chains, statuses, nowMs: clock.nowMs(), finality: 'any' }),
    };
  },
});
