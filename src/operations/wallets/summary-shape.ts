import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { VERDICT_MEANING, VERDICTS } from '../../../core/domain/data-quality.ts';
import { REASONS_AGAINST, REASONS_FOR } from '../../../core/domain/pay-reasons.ts';
import { WarningsShape } from '../meta.ts';
import {
  AddressShape,
  ChainShape,
  CountShape,
  keyOf,
  NameSourceShape,
  oneOf,
  orNull,
  TimeShape,
  UsdShape,
} from '../shapes.ts';
import { ElsewhereShape } from './elsewhere.ts';
import { PRICED_SETTLEMENTS_MAX } from './read-summary.ts';

/** The answer of /entities/{wallet}/summary. */

/** An agent's id alone may have 78 digits; names and hosts are cut so that every answer stays below 1.5 KB. */
export const TEXT_MAX_CHARS = 40;

/** Of a wallet on more chains the ones with the most settlements: an answer about one chain is no longer than others. */
export const ELSEWHERE_SHOWN_MAX = 2;
/** Of a wallet with channels, which take the room of the second. */
export const ELSEWHERE_WITH_CHANNELS_MAX = 1;

const ReceivedShape = Type.Object(
  {
    settlement_count: CountShape,
    usd: UsdShape,
    organic_usd: { ...UsdShape, description: 'Without its payments to itself.' },
    proven_usd: { ...UsdShape, description: 'Of `usd`, those with evidence tier proven.' },
    counterparties: { ...CountShape, description: 'Other wallets that it paid or was paid by.' },
  },
  { title: 'SummaryReceived' },
);

const IdentityShape = Type.Object(
  {
    agent_count: { ...CountShape, description: 'ERC-8004 agents that use the wallet now.' },
    chain: ChainShape,
    agent_id: Type.String({ pattern: '^[0-9]+$' }),
    domain: orNull(Type.String()),
    domain_proof: oneOf(['unchecked', 'proven', 'refuted', 'unreachable'], {
      description: 'Whether the domain itself names the agent.',
    }),
    paid_score: orNull(
      Type.Number({ description: 'Of ratings whose file proves a payment; null without any.' }),
    ),
    paid_rating_clients: CountShape,
  },
  {
    title: 'SummaryIdentity',
    description: 'One agent: with a proven domain before others, then the most recently rated.',
  },
);

const NullableUsd = orNull(Type.Number());

const OffersShape = Type.Object(
  {
    count: { ...CountShape, description: 'Listed resources and methods with an offer that is paid to it.' },
    published: { ...CountShape, description: 'Of these, published by the domain of the resource itself.' },
    contested: { ...CountShape, description: 'Of the others, with listings that name other payees.' },
    site: orNull(Type.String({ description: 'Host of most of them.' })),
  },
  { title: 'SummaryOffers' },
);

const ChannelsShape = Type.Object(
  {
    open_as_payer: CountShape,
    usd_as_payer: NullableUsd,
    open_as_payee: CountShape,
    usd_as_payee: NullableUsd,
  },
  {
    title: 'SummaryChannels',
    description:
      'Payment channels and escrows that still hold money, and what they hold: committed to the payee and not yet claimed. Left out where it is in none.',
  },
);

const RefundsShape = Type.Object(
  { payers: CountShape, settlement_count: CountShape, usd: UsdShape },
  {
    title: 'SummaryRefunds',
    description:
      'Over the last 30 days: payers that it paid after they had paid it, its settlements to them, and the dollars, of each payer at most what that payer had paid.',
  },
);

const CompareShape = Type.Object(
  {
    payments: {
      ...CountShape,
      description: `Payments from others among its newest ${PRICED_SETTLEMENTS_MAX} settlements as a payee, channel deposits left out; the next three are of these.`,
    },
    min_usd: NullableUsd,
    median_usd: NullableUsd,
    max_usd: NullableUsd,
    listed_min_usd: orNull(Type.Number({ description: 'Lowest listed price of an offer paid to it.' })),
    listed_max_usd: NullableUsd,
  },
  {
    title: 'SummaryCompare',
    description: 'What others paid it, and what its offers ask: compare your price.',
  },
);

const SummaryMetaShape = Type.Object(
  {
    chain: orNull(Type.String({ description: 'The chain served; null for all.' })),
    as_of: TimeShape,
    lag_seconds: orNull(
      Type.Integer({
        description: 'Of the chain served that is furthest behind; null when it is not known.',
      }),
    ),
    warnings: Type.Optional(WarningsShape),
  },
  { title: 'SummaryMeta' },
);

const meanings = (table: Readonly<Record<string, string>>): string =>
  Object.entries(table)
    .map(([key, meaning]) => `\`${key}\`: ${meaning}`)
    .join(' ');

const NullableObject = <Schema extends TSchema>(schema: Schema) =>
  Type.Unsafe<Static<Schema> | null>({ anyOf: [schema, { type: 'null' }] });

export const SummaryShape = Type.Object(
  {
    wallet: AddressShape,
    name: orNull(Type.String({ description: `Cut to ${TEXT_MAX_CHARS} characters; null when unknown.` })),
    name_source: NameSourceShape,
    verdict: oneOf(VERDICTS, {
      title: 'SummaryVerdict',
      description: `That of its profile as a payee. ${meanings(VERDICT_MEANING)}`,
    }),
    reasons_for: Type.Array(keyOf(REASONS_FOR, { title: 'ReasonFor' }), {
      description: meanings(REASONS_FOR),
    }),
    reasons_against: Type.Array(keyOf(REASONS_AGAINST, { title: 'ReasonAgainst' }), {
      description: meanings(REASONS_AGAINST),
    }),
    received: ReceivedShape,
    elsewhere: Type.Optional({
      ...ElsewhereShape,
      maxItems: ELSEWHERE_SHOWN_MAX,
      description: `Only with \`chain\`: what it was paid on the indexed chains that it left out; of more than ${ELSEWHERE_SHOWN_MAX} those with the most settlements, and with \`channels\` the first alone.`,
    }),
    first_seen: orNull(TimeShape),
    last_seen: orNull(TimeShape),
    age_days: orNull(Type.Integer({ minimum: 0, description: 'Whole days since `first_seen`.' })),
    identity: NullableObject(IdentityShape),
    offers: OffersShape,
    channels: Type.Optional(ChannelsShape),
    refunds: RefundsShape,
    compare: CompareShape,
    meta: SummaryMetaShape,
  },
  { title: 'EntitySummary' },
);

export type SummaryAnswer = Static<typeof SummaryShape>;

export const SUMMARY_EXAMPLE: SummaryAnswer = {
  wallet: '0x8d4f05a0f2c1b3e49a7766554433221100ffeedd',
  name: 'Weather by the call',
  name_source: 'agent_card',
  verdict: 'clean',
  reasons_for: ['mostly_proven', 'many_counterparties', 'long_history', 'domain_proven', 'well_rated'],
  reasons_against: [],
  received: {
    settlement_count: 18_204,
    usd: 182.04,
    organic_usd: 182.04,
    proven_usd: 174.9,
    counterparties: 41,
  },
  first_seen: '2026-03-02T17:40:11Z',
  last_seen: '2026-11-20T09:15:01Z',
  age_days: 262,
  identity: {
    agent_count: 1,
    chain: 'eip155:8453',
    agent_id: '2290',
    domain: 'weather.example',
    domain_proof: 'proven',
    paid_score: 88.2,
    paid_rating_clients: 44,
  },
  offers: { count: 2, published: 0, contested: 0, site: 'weather.example' },
  channels: { open_as_payer: 0, usd_as_payer: 0, open_as_payee: 1, usd_as_payee: 3.76 },
  refunds: { payers: 1, settlement_count: 1, usd: 0.01 },
  compare: {
    payments: 50,
    min_usd: 0.01,
    median_usd: 0.01,
    max_usd: 0.02,
    listed_min_usd: 0.01,
    listed_max_usd: 0.02,
  },
  meta: { chain: 'eip155:8453', as_of: '2026-11-20T09:15:04Z', lag_seconds: 1 },
};
