import { type Static, Type } from '@sinclair/typebox';
import { SQL_TIER_IDS, type SqlTierId } from '../../../core/domain/plan.ts';
import { META_EXAMPLE, MetaShape } from '../meta.ts';
import { CountShape } from '../shapes.ts';
import { SQL_WARNINGS, type SqlWarningCode } from './warnings.ts';

/** What SQL answers look like in JSON. Source: api.md 5. */

const TierShape = Type.Unsafe<SqlTierId>({ title: 'SqlTier', type: 'string', enum: [...SQL_TIER_IDS] });

const WarningsShape = Type.Array(
  Type.Object(
    {
      code: Type.Unsafe<SqlWarningCode>({
        title: 'SqlWarningCode',
        type: 'string',
        enum: Object.keys(SQL_WARNINGS),
      }),
      message: Type.String({ description: 'What it means, and what to write instead.' }),
      near: Type.Optional(Type.String({ description: 'The constant that it is about.' })),
      position: Type.Optional(
        Type.Object(
          { line: Type.Integer({ minimum: 1 }), column: Type.Integer({ minimum: 1 }) },
          {
            title: 'SqlPosition',
            description: 'Where it stands in your text, both from 1; absent for a parameter.',
          },
        ),
      ),
      replacement: Type.Optional(
        Type.String({ description: 'The literal to write there, with its quotes.' }),
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
        balance: Type.Unsafe<number | null>({
          type: ['integer', 'null'],
          minimum: 0,
          description: 'What the organization has left; null on the x402 lane.',
        }),
      },
      { title: 'SqlUsage' },
    ),
    meta: MetaShape,
    sql: Type.String({ description: 'The text that ran: yours, as the engine writes it.' }),
    warnings: Type.Optional(WarningsShape),
  },
  { title: 'SqlResult' },
);

const NullableCount = (description: string) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 0, description });

/** The answer to `explain_only`. */
export const SqlEstimateShape = Type.Object(
  {
    sql: Type.String({ description: 'The text that would run.' }),
    tables: Type.Array(Type.String()),
    estimate: Type.Object(
      {
        rows_to_read: NullableCount(
          'By the engine’s index analysis. An estimate: a bare count() reads more than it says. Null when it did not say in time.',
        ),
        bytes_to_read: NullableCount('Uncompressed, from the average row.'),
        qu_min: CountShape,
        qu_max: Type.Integer({
          minimum: 0,
          description: 'Never above `max_qu`. Estimated without one, it is what to send as `max_qu`.',
        }),
      },
      { title: 'SqlReadEstimate' },
    ),
    tier: TierShape,
    advised_tier: Type.Unsafe<SqlTierId>({
      ...TierShape,
      description: 'The smallest tier whose time is likely to be enough.',
    }),
    meta: MetaShape,
    warnings: WarningsShape,
  },
  { title: 'SqlEstimate' },
);

const { chain, as_of, freshness } = META_EXAMPLE;

export const SQL_EXAMPLE: Static<typeof SqlResultShape> = {
  columns: [
    { name: 'payee', type: 'String' },
    { name: 'usd', type: 'Decimal(38, 6)' },
  ],
  rows: [{ payee: '0x4020615294c913f045dc10f0a5cdebd86c280001', usd: '1284.03' }],
  row_count: 1,
  truncated: false,
  duration_ms: 48,
  statistics: { rows_read: 81_920, bytes_read: 4_423_680, memory_bytes: 9_437_184 },
  usage: { query_tier: 'standard', units_held: 3, units_charged: 1, balance: 199 },
  meta: { chain, as_of, freshness },
  sql: 'SELECT payee, sum(amount_usd) AS usd FROM settlements WHERE block_time > (now() - toIntervalDay(1)) GROUP BY payee ORDER BY usd DESC LIMIT 1',
};
