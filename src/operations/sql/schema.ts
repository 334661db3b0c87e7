import { type Static, Type } from '@sinclair/typebox';
import { SQL_SECONDS_PER_QU } from '../../../core/domain/plan.ts';
import {
  PUBLIC_TABLE_NAMES,
  PUBLIC_TABLES,
  type PublicTable,
  type PublicTableName,
} from '../../../core/domain/public-tables.ts';
import { loadFunctionCatalogue, TABLE_FUNCTIONS } from '../../../sandbox/policy/policy.ts';
import type { PublicTableRows } from '../dataset.ts';
import { defineOperation } from '../define.ts';
import type { OperationDeps } from '../deps.ts';
import { MetaShape, metaAnswer } from '../meta.ts';
import { PRICES, SQL_TIERS } from '../prices.ts';
import { CountShape } from '../shapes.ts';
import { OwnTableShape, ownTableAnswer } from '../tables/declare.ts';
import { type TableDeps, tablesOf } from '../tables/own-tables.ts';
import {
  EVERYTHING,
  FUNCTIONS_SHOWN_MAX,
  hasWord,
  JSON_BYTES_MAX,
  SQL_FORMATS,
  SQL_MEDIA,
  SQL_PARAMETERS_MAX,
  SQL_TEXT_MAX_BYTES,
  STREAMED_BYTES_MAX,
  schemaFunctionsParam,
  schemaTableParam,
} from './params.ts';
import { SQL_EXAMPLE } from './shapes.ts';

/** A query over each table that reads little and can be run as it stands. The tests run them. */
const SQL_TABLE_EXAMPLES: Readonly<Record<PublicTableName, string>> = {
  settlements:
    "SELECT toDate(block_time) AS day, count() AS settlements, sum(amount_usd) AS usd FROM settlements WHERE block_time >= now() - INTERVAL 7 DAY AND evidence_tier IN ('proven', 'probable') GROUP BY day ORDER BY day",
  wallet_settlements:
    "SELECT counterparty, count() AS payments, sum(amount_usd) AS usd FROM wallet_settlements WHERE wallet = lower('0x4020615294c913f045dc10f0a5cdebd86c280001') AND role = 'payer' GROUP BY counterparty ORDER BY usd DESC LIMIT 20",
  agents:
    "SELECT agent_id, name, score, feedback_count FROM agents WHERE chain = 'eip155:8453' AND x402_support ORDER BY feedback_count DESC LIMIT 20",
  attestations:
    "SELECT agent_id, count() AS feedback, uniq(author) AS clients FROM attestations WHERE chain = 'eip155:8453' AND kind = 'feedback' AND NOT revoked GROUP BY agent_id ORDER BY clients DESC LIMIT 20",
  endpoints:
    "SELECT resource, method, min(price_usd) AS usd FROM endpoints WHERE chain = 'eip155:8453' AND price_usd <= 0.01 GROUP BY resource, method ORDER BY usd LIMIT 20",
  facilitators:
    'SELECT facilitator, count() AS addresses, min(first_seen) AS since FROM facilitators GROUP BY facilitator ORDER BY addresses DESC',
  merchant_days:
    'SELECT payee, sum(settled_usd) AS usd, sum(settlement_count) AS settlements FROM merchant_days WHERE day >= today() - 90 GROUP BY payee ORDER BY usd DESC LIMIT 20',
  payer_days:
    'SELECT payer, sum(settled_usd) AS usd, sum(settlement_count) AS settlements FROM payer_days WHERE day >= today() - 90 GROUP BY payer ORDER BY usd DESC LIMIT 20',
  pair_days:
    "SELECT payee, sum(settled_usd) AS usd, sum(settlement_count) AS settlements FROM pair_days WHERE payer = lower('0x8ba1f109551bd432803012645ac136ddd64dba72') AND day >= today() - 30 GROUP BY payee ORDER BY usd DESC LIMIT 20",
  facilitator_days:
    'SELECT facilitator, sum(settled_usd) AS usd, sum(self_payment_usd) AS self_usd FROM facilitator_days WHERE day >= today() - 30 GROUP BY facilitator ORDER BY usd DESC LIMIT 20',
  wallets:
    "SELECT name, first_settled_at, paid_usd, received_usd, self_payment_usd, is_agent FROM wallets WHERE address = lower('0x4020615294c913f045dc10f0a5cdebd86c280001')",
  wallet_names:
    "SELECT name, name_source, count() AS wallets FROM wallet_names WHERE chain = 'eip155:8453' GROUP BY name, name_source ORDER BY wallets DESC LIMIT 20",
  wallet_rings:
    'SELECT members, ring_usd, bottleneck_usd FROM wallet_rings WHERE wallet = members[1] ORDER BY bottleneck_usd DESC LIMIT 20',
  tokens: 'SELECT chain, address, symbol, decimals FROM tokens ORDER BY chain, symbol',
  relayers: 'SELECT chain, address, gas_balance, read_at FROM relayers ORDER BY chain, gas_balance LIMIT 20',
  transaction_fees:
    "SELECT facilitator, count() AS transactions, sum(fee_wei) / 1e18 AS fees, sum(settled_usd) AS usd FROM transaction_fees WHERE block_time >= now() - INTERVAL 7 DAY AND chain = 'eip155:8453' GROUP BY facilitator ORDER BY fees DESC",
  wallet_verdicts:
    "SELECT arrayJoin(reasons) AS reason, count() AS wallets, sum(settled_usd) AS usd FROM wallet_verdicts WHERE role = 'payee' AND verdict = 'suspect' GROUP BY reason ORDER BY wallets DESC",
  channels:
    "SELECT channel, payer, deposited_usd, paid_usd, balance_usd FROM channels WHERE payee = lower('0x4020615294c913f045dc10f0a5cdebd86c280001') ORDER BY balance_usd DESC LIMIT 20",
  channel_events:
    'SELECT payee, kind, count() AS events, sum(amount_usd) AS usd FROM channel_events WHERE block_time >= now() - INTERVAL 7 DAY GROUP BY payee, kind ORDER BY usd DESC LIMIT 20',
  proposed_relayers:
    'SELECT chain, address, score, payer_count, payee_count, shared_with FROM proposed_relayers ORDER BY score DESC LIMIT 20',
  coverage_days:
    'SELECT chain, day, authorization_count, named_count, unknown_count, missing_blocks FROM coverage_days WHERE day >= today() - 7 ORDER BY day DESC, chain',
};

/** What SQL may read and use, for its authors. */

const TableShape = Type.Object(
  {
    name: Type.String(),
    meaning: Type.String(),
    row_count: Type.Integer({
      minimum: 0,
      description:
        'About: rows as they are stored; of the day tables those of days that were added up already, the days since are added up when they are asked for. count() of the table is exact.',
    }),
    cheap_by: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Columns by which a constant in WHERE reads little, the most helpful first. With `columns` and `example` only for the tables that `table` names.',
      }),
    ),
    columns: Type.Optional(
      Type.Array(
        Type.Object(
          { name: Type.String(), type: Type.String(), meaning: Type.String() },
          { title: 'SqlTableColumn' },
        ),
      ),
    ),
    example: Type.Optional(
      Type.String({ description: 'A query over the table that can be run as it stands.' }),
    ),
  },
  { title: 'SqlTable' },
);

const LimitsShape = Type.Object(
  {
    text_bytes: CountShape,
    parameters: CountShape,
    answer_bytes: Type.Integer({ minimum: 0, description: 'The most that an answer in JSON has.' }),
    stream_bytes: Type.Integer({ minimum: 0, description: 'The most in every other format.' }),
    seconds_per_qu: CountShape,
    tiers: Type.Array(
      Type.Object(
        {
          tier: Type.String(),
          timeout_seconds: CountShape,
          max_qu: CountShape,
          requests_per_minute: CountShape,
          disk_bytes: CountShape,
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
    question: 'What was settled a day in the last week?',
    sql: 'SELECT toDate(block_time) AS day, count() AS settlements, sum(amount_usd) AS usd FROM settlements WHERE block_time >= today() - 6 GROUP BY day ORDER BY day',
  },
  {
    question: 'Whom did a wallet pay most?',
    sql: "SELECT counterparty, count() AS payments, sum(amount_usd) AS usd FROM wallet_settlements WHERE wallet = {wallet:String} AND role = 'payer' GROUP BY counterparty ORDER BY usd DESC LIMIT 20",
  },
  {
    question: 'Who was paid most in 90 days?',
    sql: 'SELECT payee, sum(settled_usd) AS usd FROM merchant_days WHERE day >= today() - 90 GROUP BY payee ORDER BY usd DESC LIMIT 20',
  },
] as const;

const LIMITS: Static<typeof LimitsShape> = {
  text_bytes: SQL_TEXT_MAX_BYTES,
  parameters: SQL_PARAMETERS_MAX,
  answer_bytes: JSON_BYTES_MAX,
  stream_bytes: STREAMED_BYTES_MAX,
  seconds_per_qu: SQL_SECONDS_PER_QU,
  tiers: SQL_TIERS.map(({ tier, timeoutSeconds, maxQu, requestsPerMinute, diskBytes }) => ({
    tier,
    timeout_seconds: timeoutSeconds,
    max_qu: maxQu,
    requests_per_minute: requestsPerMinute,
    disk_bytes: diskBytes,
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

/** What `functions` asks for; nothing without it. */
function functionsPart(search: string | undefined) {
  if (search === undefined) return {};
  const all = allowedFunctions();
  if (search === EVERYTHING) return { functions: all, functions_total: all.length };
  const found = all.filter((name) => hasWord(name, search));
  return { functions: found.slice(0, FUNCTIONS_SHOWN_MAX), functions_total: found.length };
}

function tableAnswer(name: PublicTableName, rowCount: number, isWhole: boolean): Static<typeof TableShape> {
  const { meaning, cheapBy, columns }: PublicTable = PUBLIC_TABLES[name];
  return {
    name,
    meaning,
    row_count: rowCount,
    ...(isWhole
      ? {
          cheap_by: [...cheapBy],
          columns: columns.map(({ name: column, type, meaning: means }) => ({
            name: column,
            type,
            meaning: means,
          })),
          example: SQL_TABLE_EXAMPLES[name],
        }
      : {}),
  };
}

/** Rules for every query. Only with the list of tables, which a caller reads before it asks for one table, or for functions. */
const RULES = {
  table_functions: [...TABLE_FUNCTIONS],
  limits: LIMITS,
  examples: EXAMPLES.map((example) => ({ ...example })),
};

export interface SchemaDeps extends OperationDeps, Pick<TableDeps, 'accounts'> {
  readonly publicTableRows: PublicTableRows;
}

export const getSqlSchema = defineOperation({
  id: 'getSqlSchema',
  wire: {
    path: '/sql/schema',
    params: { table: schemaTableParam, functions: schemaFunctionsParam },
    output: Type.Object({
      tables: Type.Optional(
        Type.Array(TableShape, { description: 'Absent where only functions were asked for.' }),
      ),
      own_tables: Type.Optional(
        Type.Array(OwnTableShape, {
          description: 'Those of your organization, with the list of tables; absent for other callers.',
        }),
      ),
      functions: Type.Optional(
        Type.Array(Type.String(), { description: 'By name; only where `functions` asks for them.' }),
      ),
      functions_total: Type.Optional({
        ...CountShape,
        description: `How many functions match; of a search the first ${FUNCTIONS_SHOWN_MAX} are shown.`,
      }),
      table_functions: Type.Optional(
        Type.Array(Type.String(), {
          description:
            'With `limits` and `examples` where the list of tables is given: without `table`, or with `*`.',
        }),
      ),
      limits: Type.Optional(LimitsShape),
      examples: Type.Optional(
        Type.Array(Type.Object({ question: Type.String(), sql: Type.String() }, { title: 'SqlExample' })),
      ),
      meta: MetaShape,
    }),
    caching: 'revalidate',
  },
  words: {
    summary: 'Tables, columns, functions and limits of SQL',
    description:
      'Without parameters the public tables in one line each, the limits, and example queries. `table` gives a table with every column and its meaning, the predicates that are cheap, about how many rows there are, and an example; `functions` gives allowed functions by name (aggregate functions also have combinators such as `sumIf`). `table=*&functions=*` gives everything: about 40 kB.',
    tool: 'What run_sql may read. Without arguments: the tables in one line each, limits, example queries. `table`: its columns with type and meaning, the columns that are cheap to filter by, and an example; read it before you query that table.',
    example: {
      tables: [tableAnswer('merchant_days', 48_213, false)],
      ...RULES,
      examples: [EXAMPLES[0]],
      meta: SQL_EXAMPLE.meta,
    },
    moreExamples: {
      table: {
        summary: 'To `table=merchant_days`.',
        value: { tables: [tableAnswer('merchant_days', 48_213, true)], meta: SQL_EXAMPLE.meta },
      },
      functions: {
        summary: 'To `functions=quarter`.',
        value: { ...functionsPart('quarter'), meta: SQL_EXAMPLE.meta },
      },
    },
  },
  money: { price: PRICES.free, load: 'none' },
  run: async (
    { table, functions },
    { clock, deployment: { chains }, index: { freshness }, publicTableRows, accounts }: SchemaDeps,
    { caller },
  ) => {
    const [counts, statuses] = await Promise.all([publicTableRows.counts(), freshness.statuses()]);
    const meta = metaAnswer({ chain: undefined, chains, statuses, nowMs: clock.nowMs(), finality: 'any' });
    const answer = (name: PublicTableName) => tableAnswer(name, counts.get(name) ?? 0, table !== undefined);
    if (table !== undefined && table !== EVERYTHING)
      return { tables: [answer(table)], ...functionsPart(functions), meta };
    // A search for functions alone.
    if (table === undefined && functions !== undefined) return { ...functionsPart(functions), meta };
    const own = await tablesOf(caller, { accounts })?.();
    return {
      tables: PUBLIC_TABLE_NAMES.map(answer),
      ...(own === undefined ? {} : { own_tables: own.map(ownTableAnswer) }),
      ...functionsPart(functions),
      ...RULES,
      meta,
    };
  },
});
