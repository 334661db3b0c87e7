import { type Static, Type } from '@sinclair/typebox';
import { SQL_TIER_IDS } from '../../../core/domain/plan.ts';
import { REFRESH_MIN_SECONDS, VISIBILITIES } from '../../../core/domain/saved-query.ts';
import { MetaShape } from '../meta.ts';
import { CountShape, oneOf, orNull, TimeShape } from '../shapes.ts';
import { SQL_EXAMPLE, SqlResultShape } from '../sql/shapes.ts';

/** What answers say about saved queries. */

const ParameterShape = Type.Object(
  {
    name: Type.String(),
    type: Type.String({ description: 'As the text has it: `UInt16`, `String`, `Array(String)`.' }),
    description: Type.String(),
    required: Type.Boolean({ description: 'Whether every call must send it.' }),
    default: orNull(Type.String({ description: 'As text; null where it must be sent.' })),
    example: orNull(Type.String()),
  },
  { title: 'SavedQueryParameter' },
);

const PriceShape = Type.Object(
  {
    author_qu: Type.Integer({ minimum: 0, description: 'What the author gets of each call of others.' }),
    warm_qu: Type.Integer({ minimum: 1, description: 'What others pay where the result is kept.' }),
    max_qu: Type.Integer({ minimum: 1, description: 'The most that a call of others costs.' }),
    x402_usd: Type.Number({ description: 'A call over x402.' }),
  },
  {
    title: 'SavedQueryPrice',
    description: 'Own calls cost their run alone, and nothing where the result is kept.',
  },
);

/** For everyone who may call it. */
const PUBLIC_FIELDS = {
  owner: Type.String({ description: 'Handle of the organization.' }),
  slug: Type.String(),
  version: Type.Integer({ minimum: 1, description: 'The one that this is about.' }),
  latest_version: Type.Integer({ minimum: 1 }),
  title: Type.String(),
  description: Type.String(),
  sql: orNull(Type.String({ description: 'Null where the author hides it.' })),
  parameters: Type.Array(ParameterShape),
  tier: oneOf(SQL_TIER_IDS, { title: 'SqlTier' }),
  freshness_seconds: Type.Integer({ minimum: 0, description: 'How old an answer may be.' }),
  visibility: oneOf(VISIBILITIES, { title: 'Visibility' }),
  price: PriceShape,
  version_created_at: TimeShape,
  url: Type.String({ description: 'Where it is called.' }),
  openapi_url: Type.String({ description: 'The document that describes it and its neighbours.' }),
};

export const PublicQueryShape = Type.Object(PUBLIC_FIELDS, { title: 'PublicQuery' });

/** In a list: short, whatever its author wrote. */
export const ListedQueryShape = Type.Object(
  {
    owner: PUBLIC_FIELDS.owner,
    slug: PUBLIC_FIELDS.slug,
    version: Type.Integer({ minimum: 1, description: 'The latest.' }),
    title: PUBLIC_FIELDS.title,
    description: Type.String({ description: 'Its first 300 characters.' }),
    parameters: Type.Array(Type.String(), { description: 'Names of the first 20.' }),
    tier: PUBLIC_FIELDS.tier,
    visibility: PUBLIC_FIELDS.visibility,
    price: PUBLIC_FIELDS.price,
    updated_at: TimeShape,
    url: PUBLIC_FIELDS.url,
    about_url: Type.String({ description: 'All that is known of it, with its parameters and text.' }),
  },
  { title: 'ListedQuery' },
);

export const SavedQueryShape = Type.Object(
  {
    ...PUBLIC_FIELDS,
    max_qu: Type.Integer({ minimum: 1, description: 'The most that one run may cost.' }),
    max_rows: Type.Integer({ minimum: 1 }),
    hide_text: Type.Boolean({ description: 'Whether only the organization sees `sql`.' }),
    price_qu: CountShape,
    refresh_seconds: orNull(Type.Integer({ minimum: REFRESH_MIN_SECONDS })),
    next_refresh_at: orNull(TimeShape),
    scheduled_by: orNull(
      Type.String({
        description:
          'The key that saved it with `refresh_seconds`: refreshes are its calls, and count against its budget. Null: the organization, by a bearer token.',
      }),
    ),
    refresh_state: orNull(
      oneOf(['scheduled', 'stopped'] as const, {
        title: 'QueryRefreshState',
        description:
          'Null without `refresh_seconds`. `stopped`: the key that scheduled it is revoked, has expired or may not schedule any more; saving the query again schedules it anew.',
      }),
    ),
    refresh_failure: orNull(
      Type.Object(
        {
          code: Type.String({ description: 'As in a problem object.' }),
          detail: Type.String(),
        },
        {
          title: 'QueryRefreshFailure',
          description: 'Why the latest refresh failed; null where it did not.',
        },
      ),
    ),
    created_at: TimeShape,
    updated_at: TimeShape,
  },
  { title: 'SavedQuery' },
);

export const VersionShape = Type.Object(
  {
    version: Type.Integer({ minimum: 1 }),
    title: Type.String(),
    created_at: TimeShape,
    url: Type.String({ description: 'Where this version is called.' }),
  },
  { title: 'SavedQueryVersion' },
);

const REFRESH_STATES = ['succeeded', 'failed'] as const;

export const RefreshShape = Type.Object(
  {
    at: TimeShape,
    state: oneOf(REFRESH_STATES, { title: 'RefreshState' }),
    version: Type.Integer({ minimum: 1 }),
    units: Type.Integer({ minimum: 0, description: 'Charged to the owner.' }),
    job: orNull(Type.String({ description: 'The job that ran; null where none could be begun.' })),
    code: orNull(Type.String({ description: 'Why it failed: a code of an error.' })),
    detail: orNull(Type.String()),
    next_at: orNull(TimeShape, { description: 'Null where no other follows.' }),
  },
  { title: 'QueryRefresh', description: 'One run that was to keep the result warm.' },
);

const SQL =
  'SELECT payee, sum(amount_usd) AS usd FROM settlements WHERE block_time >= now() - INTERVAL {days:UInt16} DAY GROUP BY payee ORDER BY usd DESC LIMIT 10';

export const PUBLIC_QUERY_EXAMPLE: Static<typeof PublicQueryShape> = {
  owner: 'acme',
  slug: 'top-payees',
  version: 2,
  latest_version: 2,
  title: 'Top payees',
  description: 'Who was paid the most in the last days.',
  sql: SQL,
  parameters: [
    {
      name: 'days',
      type: 'UInt16',
      description: 'Days up to now.',
      required: false,
      default: '7',
      example: null,
    },
  ],
  tier: 'standard',
  freshness_seconds: 300,
  visibility: 'public',
  price: { author_qu: 2, warm_qu: 3, max_qu: 3, x402_usd: 0.03 },
  version_created_at: '2026-11-20T12:00:00Z',
  url: 'https://index.example/v0/q/acme/top-payees',
  openapi_url: 'https://index.example/v0/q/acme/openapi.json',
};

export const LISTED_QUERY_EXAMPLE: Static<typeof ListedQueryShape> = {
  owner: 'acme',
  slug: 'top-payees',
  version: 2,
  title: 'Top payees',
  description: 'Who was paid the most in the last days.',
  parameters: ['days'],
  tier: 'standard',
  visibility: 'public',
  price: PUBLIC_QUERY_EXAMPLE.price,
  updated_at: '2026-11-20T12:00:00Z',
  url: PUBLIC_QUERY_EXAMPLE.url,
  about_url: `${PUBLIC_QUERY_EXAMPLE.url}/about`,
};

export const SAVED_QUERY_EXAMPLE: Static<typeof SavedQueryShape> = {
  ...PUBLIC_QUERY_EXAMPLE,
  max_qu: 1,
  max_rows: 10_000,
  hide_text: false,
  price_qu: 2,
  refresh_seconds: null,
  next_refresh_at: null,
  scheduled_by: null,
  refresh_state: null,
  refresh_failure: null,
  created_at: '2026-11-19T08:00:00Z',
  updated_at: '2026-11-20T12:00:00Z',
};

/** A result in JSON. What was charged stands in the headers, so that equal answers are equal bytes. */
export const QueryAnswerShape = Type.Object(
  {
    owner: Type.String(),
    slug: Type.String(),
    version: Type.Integer({ minimum: 1 }),
    columns: SqlResultShape.properties.columns,
    rows: SqlResultShape.properties.rows,
    row_count: Type.Integer({ minimum: 0, description: 'Rows of this answer.' }),
    total_rows: Type.Integer({ minimum: 0, description: 'Rows of the result.' }),
    next_offset: orNull(Type.Integer({ minimum: 1 })),
    truncated: Type.Boolean({ description: 'Whether the result itself was cut at a limit.' }),
    computed_at: Type.String({
      format: 'date-time',
      description: 'When the query that made this result began.',
    }),
    meta: MetaShape,
  },
  { title: 'QueryAnswer' },
);

export const QUERY_ANSWER_EXAMPLE: Static<typeof QueryAnswerShape> = {
  owner: 'acme',
  slug: 'top-payees',
  version: 2,
  columns: [
    { name: 'payee', type: 'String' },
    { name: 'usd', type: 'Nullable(Decimal(38, 6))' },
  ],
  rows: [{ payee: '0x4020615294c913f045dc10f0a5cdebd86c280001', usd: '1284.03' }],
  row_count: 1,
  total_rows: 1,
  next_offset: null,
  truncated: false,
  computed_at: '2026-11-20T12:00:00.000Z',
  meta: SQL_EXAMPLE.meta,
};
