import { DEPLOYMENT_OWNER } from '../../../core/domain/dashboard.ts';
import type { Dashboard, DashboardContent, Panel, PanelChart } from './definition.ts';

/** The dashboards that come with the service, in the order in which they are listed. docs/dashboards.md is checked against this. */

function chart(kind: PanelChart['kind'], x: string, y: string, by: string | null = null): PanelChart {
  return { kind, x, y: [y], by };
}

function panel(
  id: string,
  title: string,
  more: Pick<Panel, 'kind' | 'width' | 'query'> & Partial<Pick<Panel, 'chart' | 'text'>>,
): Panel {
  return { id, title, chart: null, text: '', ...more };
}

const CONTENTS: Readonly<Record<string, DashboardContent>> = {
  home: {
    title: 'Overview',
    description: 'What is paid for over x402, and to whom.',
    panels: [
      panel('figures', 'In figures', { kind: 'figures', width: 'full', query: 'market-figures' }),
      panel('volume', 'Organic volume by facilitator', {
        kind: 'chart',
        width: 'full',
        query: 'volume-by-facilitator',
        chart: chart('stacked', 'time', 'volume_usd', 'facilitator'),
      }),
      panel('sellers', 'Top sellers', { kind: 'table', width: 'two_thirds', query: 'top-sellers' }),
      panel('payments', 'Newest payments', { kind: 'payments', width: 'third', query: 'newest-payments' }),
    ],
  },
  facilitators: {
    title: 'Facilitators',
    description: 'Who relays payments, how many, and for whom.',
    panels: [
      panel('figures', 'In figures', { kind: 'figures', width: 'full', query: 'facilitator-figures' }),
      panel('payments', 'Payments by facilitator', {
        kind: 'chart',
        width: 'two_thirds',
        query: 'payments-by-facilitator',
        chart: chart('stacked', 'time', 'payments', 'facilitator'),
      }),
      panel('hours', 'When payments are made (UTC)', {
        kind: 'chart',
        width: 'third',
        query: 'payments-by-hour',
        chart: chart('heatmap', 'hour', 'payments', 'weekday'),
      }),
      panel('ranking', 'Facilitators by volume', {
        kind: 'table',
        width: 'full',
        query: 'facilitator-ranking',
      }),
    ],
  },
  seller: {
    title: 'One seller',
    description: 'What one wallet was paid: choose it by its address.',
    panels: [
      panel('figures', 'In figures', { kind: 'figures', width: 'full', query: 'seller-figures' }),
      panel('volume', 'Volume by facilitator', {
        kind: 'chart',
        width: 'full',
        query: 'seller-volume',
        chart: chart('stacked', 'time', 'volume_usd', 'facilitator'),
      }),
      panel('payers', 'Who pays it', { kind: 'table', width: 'two_thirds', query: 'seller-payers' }),
      panel('prices', 'Prices that it is paid', {
        kind: 'chart',
        width: 'third',
        query: 'seller-prices',
        chart: chart('bar', 'price', 'payments'),
      }),
    ],
  },
  agents: {
    title: 'Agents',
    description: 'Registered agents, what they offer, and what they are paid.',
    panels: [
      panel('figures', 'In figures', { kind: 'figures', width: 'full', query: 'agent-figures' }),
      panel('registrations', 'New agents', {
        kind: 'chart',
        width: 'half',
        query: 'agent-registrations',
        chart: chart('bar', 'time', 'agents', 'chain'),
      }),
      panel('capabilities', 'What agents offer', {
        kind: 'chart',
        width: 'half',
        query: 'agent-capabilities',
        chart: chart('bar', 'capability', 'agents'),
      }),
      panel('earners', 'Agents by revenue', { kind: 'table', width: 'full', query: 'agent-earners' }),
    ],
  },
};

/** By slug. */
export const SHIPPED_DASHBOARDS: ReadonlyMap<string, Dashboard> = new Map(
  Object.entries(CONTENTS).map(([slug, content]) => [
    slug,
    {
      owner: DEPLOYMENT_OWNER,
      slug,
      content,
      visibility: 'public',
      tokenDigest: null,
      updatedAtMs: 0,
    },
  ]),
);
