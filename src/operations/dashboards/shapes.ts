import { type Static, Type } from '@sinclair/typebox';
import { PANEL_CHARTS, PANEL_KINDS, PANEL_WIDTHS, PERIODS } from '../../../core/domain/dashboard.ts';
import { VISIBILITIES } from '../../../core/domain/saved-query.ts';
import { AddressShape, ChainShape, oneOf, orNull, TimeShape } from '../shapes.ts';
import { BOARD_PLACEHOLDERS } from './definition.ts';
import { DEPLOYMENT_QUERIES } from './shipped-queries.ts';

/** What answers say about dashboards. */

const ChartShape = Type.Object(
  {
    kind: oneOf(PANEL_CHARTS, { title: 'PanelChartKind' }),
    x: orNull(
      Type.String({ description: 'The column along the horizontal axis; null: the reader guesses.' }),
    ),
    y: Type.Array(Type.String(), { description: 'The columns that are drawn.' }),
    by: orNull(Type.String({ description: 'The column whose values are the series.' })),
  },
  { title: 'PanelChart' },
);

const PanelQueryShape = Type.Object(
  {
    slug: Type.String({ description: 'A saved query of the owner of the dashboard.' }),
    sql: orNull(Type.String({ description: 'Its text; null where its author hides it.' })),
    parameters: Type.Array(
      Type.Object({ name: Type.String(), value: Type.String() }, { title: 'PanelParameter' }),
      { description: 'The values of its placeholders for what the dashboard was asked for.' },
    ),
  },
  { title: 'PanelQuery' },
);

const PanelShape = Type.Object(
  {
    id: Type.String(),
    kind: oneOf(PANEL_KINDS, {
      title: 'PanelKind',
      description:
        '`figures`: a figure for each column, compared with the column of that name and `_before`. `payments`: the newest payments as they arrive.',
    }),
    title: Type.String(),
    width: oneOf(PANEL_WIDTHS, { title: 'PanelWidth', description: 'Its share of the width of the grid.' }),
    text: Type.String({ description: 'What a panel of text says; a note of other panels.' }),
    chart: orNull(ChartShape, { description: 'Null: the columns say which chart fits.' }),
    query: orNull(PanelQueryShape, {
      description: 'Null for a panel of text, and where its query is gone or may not be seen.',
    }),
  },
  { title: 'Panel' },
);

/** A panel as its owner sends it. */
export const SentPanelShape = Type.Object(
  {
    id: Type.Optional(Type.String({ description: 'A slug, unique on the dashboard.' })),
    kind: oneOf(
      PANEL_KINDS.filter((kind) => kind !== 'payments'),
      { title: 'SentPanelKind' },
    ),
    title: Type.Optional(Type.String()),
    width: Type.Optional(PanelShape.properties.width),
    query: Type.Optional(
      orNull(Type.String({ description: 'Slug of a saved query; null for a panel of text.' })),
    ),
    chart: Type.Optional(PanelShape.properties.chart),
    text: Type.Optional(Type.String()),
  },
  { title: 'SentPanel' },
);

export const ListedDashboardShape = Type.Object(
  {
    owner: Type.String({ description: 'Handle of its owner; `index`: it came with the service.' }),
    slug: Type.String(),
    title: Type.String(),
    description: Type.String(),
    visibility: oneOf(VISIBILITIES, { title: 'Visibility' }),
    url: Type.String({ description: 'Where people open it.' }),
  },
  { title: 'ListedDashboard' },
);

export const DashboardShape = Type.Object(
  {
    ...ListedDashboardShape.properties,
    is_own: Type.Boolean({ description: 'Whether the caller may change it.' }),
    takes: Type.Array(oneOf(BOARD_PLACEHOLDERS, { title: 'BoardPlaceholder' }), {
      description: 'What its panels depend on.',
    }),
    period: oneOf(PERIODS, { title: 'Period', description: 'What it was asked for.' }),
    chain: orNull(ChainShape, { description: 'Null: every chain.' }),
    wallet: orNull(AddressShape),
    panels: Type.Array(PanelShape),
    updated_at: orNull(TimeShape, { description: 'Null where it came with the service.' }),
    embed_url: Type.String({
      description: 'What a frame of another page shows; a private one also takes `token`.',
    }),
    has_token: Type.Boolean({ description: 'Whether a token opens it. Told to its owner alone.' }),
  },
  { title: 'Dashboard' },
);

export const LISTED_DASHBOARD_EXAMPLE: Static<typeof ListedDashboardShape> = {
  owner: 'index',
  slug: 'home',
  title: 'Overview',
  description: 'What is paid for over x402, and to whom.',
  visibility: 'public',
  url: 'https://index.example/console/dashboards/index/home',
};

export const DASHBOARD_EXAMPLE: Static<typeof DashboardShape> = {
  ...LISTED_DASHBOARD_EXAMPLE,
  is_own: false,
  takes: ['hours', 'chain'],
  period: '7d',
  chain: null,
  wallet: null,
  panels: [
    {
      id: 'volume',
      kind: 'chart',
      title: 'Organic volume by facilitator',
      width: 'full',
      text: '',
      chart: { kind: 'stacked', x: 'time', y: ['volume_usd'], by: 'facilitator' },
      query: {
        slug: 'volume-by-facilitator',
        sql: DEPLOYMENT_QUERIES.get('volume-by-facilitator')?.content.sql ?? null,
        parameters: [
          { name: 'hours', value: '168' },
          { name: 'chain', value: 'all' },
        ],
      },
    },
  ],
  updated_at: null,
  embed_url: 'https://index.example/embed/index/home',
  has_token: false,
};
