import { type Static, Type } from '@sinclair/typebox';
import type { Chain } from '../../../core/domain/chains.ts';
import { SIGNALS, VERDICTS } from '../../../core/domain/data-quality.ts';
import { AGENT_EXAMPLE, AgentShape } from '../agents/shape.ts';
import { WalletChannelsShape } from '../channels/shape.ts';
import { MetaShape, SNAPSHOT_EXAMPLE } from '../meta.ts';
import {
  AddressShape,
  ChainShape,
  CountShape,
  DateShape,
  NameSourceShape,
  oneOf,
  orNull,
  TimeShape,
  UsdShape,
} from '../shapes.ts';
import { ElsewhereShape } from './elsewhere.ts';
import { inWindowShape } from './in-window.ts';
import { LinkedShape } from './linked.ts';
import { WALLET_AGENTS_COUNTED_MAX, WALLET_AGENTS_SHOWN_MAX, WALLET_ENDPOINTS_MAX } from './owners.ts';

/** The answer of /merchants/{address} and /agents/{wallet}. */

const NullableTime = orNull(TimeShape);

const FLOWS = {
  inbound_usd: UsdShape,
  inbound_count: CountShape,
  outbound_usd: UsdShape,
  outbound_count: CountShape,
};

const CoverageShape = Type.Object(
  {
    known: Type.Boolean({
      description:
        'Whether any served settlement has this wallet, in either role. false: never paid, not yet indexed, or not on a chain served (`meta`).',
    }),
    first_seen: NullableTime,
    last_seen: NullableTime,
    settlements_scanned: Type.Integer({
      minimum: 0,
      description: 'Settlements, newest first, that distinct counts and signals were computed from.',
    }),
    scan_truncated: Type.Boolean({ description: 'Older settlements exist that were not scanned.' }),
    scan_cap: Type.Integer({
      minimum: 1,
      description:
        'A wallet with no more rows than this is always scanned whole; of one with more the scan may be cut to its newest rows, as `scan_truncated` says. A payment to oneself has two rows, and a row not yet merged counts each version.',
    }),
  },
  { title: 'ProfileCoverage' },
);

const EntityShape = Type.Object(
  {
    kind: oneOf(['payee', 'relayer', 'endpoint'], {
      description: `payee: payTo of a catalogued resource. relayer: sends settlements for a facilitator. endpoint: a resource of /endpoints with an offer that is paid to it; at most ${WALLET_ENDPOINTS_MAX}, by URL.`,
    }),
    chain: ChainShape,
    name: orNull(Type.String()),
    name_source: NameSourceShape,
    source: Type.String({ description: 'The catalogue that says so.' }),
    resource: Type.Optional(Type.String({ description: 'Of a payee and an endpoint: what is sold.' })),
    facilitator: Type.Optional(Type.String({ description: 'Of a relayer: id of the facilitator.' })),
    since: Type.Optional(DateShape),
  },
  { title: 'ProfileEntity' },
);

const BasisShape = Type.Object(
  {
    totals: oneOf(['exact'], {
      description: 'Sums, counts, chain_split, daily, first_seen and last_seen: every indexed settlement.',
    }),
    distinct_counterparties: oneOf(['exact', 'estimated'], {
      description:
        'estimated: a merged sketch with a standard error of about 2%, because the scan was truncated.',
    }),
    signals: oneOf(['all_settlements', 'newest_settlements'], {
      description: 'newest_settlements: only the settlements_scanned newest ones.',
    }),
    finality: oneOf(['any', 'finalized'], {
      description: 'finalized: only settlements that no reorg can undo.',
    }),
  },
  { title: 'ProfileBasis' },
);

const DailyFlowsShape = Type.Object({ date: DateShape, ...FLOWS }, { title: 'DailyFlows' });

const AggregatesShape = Type.Object(
  {
    ...FLOWS,
    distinct_counterparties: Type.Integer({
      minimum: 0,
      description: 'Other wallets that it paid or was paid by.',
    }),
    self_payment_usd: Type.Number({ description: 'Dollars paid by the wallet to itself, counted once.' }),
    organic_usd: Type.Number({
      description:
        'Dollars in the role of this profile (merchants: inbound, agents: outbound) without self-payments.',
    }),
    proven_usd: Type.Number({
      description:
        'Of the dollars in the role of this profile, self-payments included, those with evidence tier proven.',
    }),
    chain_split: Type.Array(Type.Object({ chain: ChainShape, ...FLOWS }, { title: 'ChainFlows' }), {
      description: 'Chains with settlements of this wallet.',
    }),
    daily: Type.Array(DailyFlowsShape, {
      maxItems: 30,
      description: 'Days of `daily_window` with settlements, oldest first; every other day of it is zero.',
    }),
    daily_window: Type.Object(
      { since: DateShape, until: DateShape },
      { title: 'DayWindow', description: 'The last 30 UTC days, both ends included; `until` is today.' },
    ),
    basis: BasisShape,
  },
  { title: 'ProfileAggregates' },
);

const SignalShape = Type.Object(
  {
    id: oneOf<string>(Object.keys(SIGNALS)),
    value: orNull(
      Type.Number({
        description:
          'A share within [0,1] at four decimals, rounded down, or a count. Null when there is nothing to measure.',
      }),
    ),
    threshold: Type.Number(),
    triggered: Type.Boolean({ description: 'The value reached the threshold.' }),
    method_version: Type.String(),
    note: Type.Optional(Type.String()),
  },
  { title: 'Signal' },
);

const DataQualityShape = Type.Object(
  {
    verdict: oneOf(VERDICTS, { title: 'Verdict' }),
    note: Type.String(),
    signals: Type.Array(SignalShape),
  },
  { title: 'DataQuality' },
);

export const ProfileShape = Type.Object(
  {
    wallet: AddressShape,
    name: orNull(Type.String({ description: 'As lists of settlements show it; null when unknown.' })),
    name_source: NameSourceShape,
    role: oneOf(['payee', 'payer'], {
      description: 'The role that is judged: payee for merchants, payer for agents.',
    }),
    coverage: CoverageShape,
    entities: Type.Array(EntityShape, { description: 'What the catalogues know of the address, per chain.' }),
    erc8004_agents: Type.Array(AgentShape, {
      maxItems: WALLET_AGENTS_SHOWN_MAX,
      description: `ERC-8004 agents that pay and are paid with this address now, on the chain served, the most recently rated first, then those whose card alone names it (their \`wallet\` is another); at most ${WALLET_AGENTS_SHOWN_MAX}. Agents that it owns and that use another wallet are on \`/agents?owner=\`. \`finality\` does not filter them.`,
    }),
    erc8004_agents_total: {
      ...CountShape,
      description: `How many there are, of which \`erc8004_agents\` shows the first. Counted among the first ${WALLET_AGENTS_COUNTED_MAX.toLocaleString('en')}, by chain and id, that ever had the address.`,
    },
    aggregates: AggregatesShape,
    channels: Type.Optional(WalletChannelsShape),
    in_window: Type.Optional(inWindowShape(DailyFlowsShape)),
    data_quality: DataQualityShape,
    elsewhere: Type.Optional(ElsewhereShape),
    linked_wallets: Type.Optional(LinkedShape),
    meta: MetaShape,
  },
  { title: 'Profile' },
);

export type ProfileAnswer = Static<typeof ProfileShape>;
export type EntityAnswer = Static<typeof EntityShape>;

const EXAMPLE_FLOWS = { inbound_usd: 1.25, inbound_count: 125, outbound_usd: 0, outbound_count: 0 };

const EXAMPLE_CHAIN: Chain = 'eip155:8453';

export const PROFILE_EXAMPLE: ProfileAnswer = {
  wallet: '0x8d4f05a0f2c1b3e49a7766554433221100ffeedd',
  name: 'Weather by the call',
  name_source: 'endpoint_catalogue',
  role: 'payee',
  coverage: {
    known: true,
    first_seen: '2026-11-20T00:02:11Z',
    last_seen: '2026-11-20T09:15:01Z',
    settlements_scanned: 125,
    scan_truncated: false,
    scan_cap: 20_000,
  },
  entities: [
    {
      kind: 'payee',
      chain: EXAMPLE_CHAIN,
      name: 'Weather by the call',
      name_source: 'endpoint_catalogue',
      source: 'bazaar',
      resource: 'https://weather.example/now',
    },
  ],
  erc8004_agents: [AGENT_EXAMPLE],
  erc8004_agents_total: 1,
  aggregates: {
    ...EXAMPLE_FLOWS,
    distinct_counterparties: 41,
    self_payment_usd: 0,
    organic_usd: 1.25,
    proven_usd: 1.2,
    chain_split: [{ chain: EXAMPLE_CHAIN, ...EXAMPLE_FLOWS }],
    daily: [{ date: '2026-11-20', ...EXAMPLE_FLOWS }],
    daily_window: { since: '2026-10-22', until: '2026-11-20' },
    basis: { totals: 'exact', distinct_counterparties: 'exact', signals: 'all_settlements', finality: 'any' },
  },
  linked_wallets: [
    {
      chain: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
      wallet: '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU',
      basis: 'listing',
      by: 'https://weather.example/now',
      settlement_count: 64,
      usd: 0.64,
      last_seen: '2026-11-20T09:14:12Z',
    },
  ],
  channels: {
    as_payer: { channel_count: 0, open_count: 0, balance_usd: 0, paid_usd: 0 },
    as_payee: { channel_count: 3, open_count: 1, balance_usd: 3.76, paid_usd: 1.24 },
  },
  data_quality: {
    verdict: 'clean',
    note: 'No signal reached its threshold.',
    signals: [
      { id: 'self_payment_share', value: 0, threshold: 0.1, triggered: false, method_version: '1' },
      { id: 'payer_concentration', value: 0.0731, threshold: 0.25, triggered: false, method_version: '1' },
      { id: 'single_payer_dominance', value: 0.16, threshold: 0.5, triggered: false, method_version: '1' },
      { id: 'reciprocity', value: 0, threshold: 0.1, triggered: false, method_version: '1' },
      { id: 'ring_membership', value: 0, threshold: 1, triggered: false, method_version: '1' },
    ],
  },
  meta: {
    chain: EXAMPLE_CHAIN,
    as_of: '2026-11-20T09:15:04Z',
    snapshot: SNAPSHOT_EXAMPLE,
    freshness: {
      chains: [
        {
          chain: EXAMPLE_CHAIN,
          indexed_block: 38_412_078,
          indexed_at: '2026-11-20T09:15:03Z',
          head_block: 38_412_078,
          finalized_block: 38_411_402,
          lag_seconds: 1,
        },
      ],
    },
  },
};

export const AGENT_PROFILE_EXAMPLE: ProfileAnswer = {
  ...PROFILE_EXAMPLE,
  wallet: '0x4020615294c913f045dc10f0a5cdebd86c280001',
  name: null,
  name_source: null,
  role: 'payer',
  linked_wallets: [],
  entities: [],
  erc8004_agents: [],
  erc8004_agents_total: 0,
  aggregates: {
    ...PROFILE_EXAMPLE.aggregates,
    inbound_usd: 0,
    inbound_count: 0,
    outbound_usd: 1.25,
    outbound_count: 125,
    chain_split: PROFILE_EXAMPLE.aggregates.chain_split.map(turned),
    daily: PROFILE_EXAMPLE.aggregates.daily.map(turned),
  },
  channels: {
    as_payer: { channel_count: 1, open_count: 1, balance_usd: 3.76, paid_usd: 1.24 },
    as_payee: { channel_count: 0, open_count: 0, balance_usd: 0, paid_usd: 0 },
  },
  data_quality: {
    ...PROFILE_EXAMPLE.data_quality,
    signals: PROFILE_EXAMPLE.data_quality.signals.map((signal) => ({
      ...signal,
      id: signal.id.replace('payer', 'payee'),
    })),
  },
};

/** The same figures seen from the other side. */
function turned<Flows extends typeof EXAMPLE_FLOWS>(flows: Flows): Flows {
  return {
    ...flows,
    inbound_usd: flows.outbound_usd,
    inbound_count: flows.outbound_count,
    outbound_usd: flows.inbound_usd,
    outbound_count: flows.inbound_count,
  };
}
