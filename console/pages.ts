import type { ComponentType } from 'preact';
import { matchRoute, type PageProps, type RouteParams } from './routes.ts';

export interface PageEntry {
  /** Below /console, with `:names`. */
  readonly path: string;
  /** The title of the tab and the name in the navigation. */
  readonly title: string;
  /** Whether the navigation lists it, in the order of `PAGES`. */
  readonly inNavigation: boolean;
  /** The path of the entry that the navigation marks as current. */
  readonly section: string;
  /** Loads the chunk of the page. */
  load(): Promise<ComponentType<PageProps>>;
}

/** All pages of the console. The first one is /console itself. */
export const PAGES: readonly PageEntry[] = [
  {
    path: '/',
    title: 'Live flow',
    inNavigation: true,
    section: '/',
    load: () => import('./pages/settlements.tsx').then(({ FlowsPage }) => FlowsPage),
  },
  {
    path: '/sql',
    title: 'SQL',
    inNavigation: true,
    section: '/sql',
    load: () => import('./pages/sql.tsx').then(({ SqlPage }) => SqlPage),
  },
  {
    path: '/transactions',
    title: 'Settlements',
    inNavigation: true,
    section: '/transactions',
    load: () => import('./pages/settlements.tsx').then(({ TransactionsPage }) => TransactionsPage),
  },
  {
    path: '/merchants',
    title: 'Merchants',
    inNavigation: true,
    section: '/merchants',
    load: () => import('./pages/merchants.tsx').then(({ MerchantsPage }) => MerchantsPage),
  },
  {
    path: '/merchants/:address',
    title: 'Merchant',
    inNavigation: false,
    section: '/merchants',
    load: () => import('./pages/wallet.tsx').then(({ MerchantPage }) => MerchantPage),
  },
  {
    path: '/agents',
    title: 'Agents',
    inNavigation: true,
    section: '/agents',
    load: () => import('./pages/agents.tsx').then(({ AgentsPage }) => AgentsPage),
  },
  {
    path: '/agents/:wallet',
    title: 'Agent',
    inNavigation: false,
    section: '/agents',
    load: () => import('./pages/wallet.tsx').then(({ AgentPage }) => AgentPage),
  },
  {
    path: '/leaderboard',
    title: 'Leaderboard',
    inNavigation: true,
    section: '/leaderboard',
    load: () => import('./pages/agents.tsx').then(({ LeaderboardPage }) => LeaderboardPage),
  },
  {
    path: '/facilitators',
    title: 'Facilitators',
    inNavigation: true,
    section: '/facilitators',
    load: () => import('./pages/facilitators.tsx').then(({ FacilitatorsPage }) => FacilitatorsPage),
  },
  {
    path: '/endpoints',
    title: 'Endpoints',
    inNavigation: true,
    section: '/endpoints',
    load: () => import('./pages/endpoints.tsx').then(({ EndpointsPage }) => EndpointsPage),
  },
  {
    path: '/capabilities',
    title: 'Capabilities',
    inNavigation: false,
    section: '/endpoints',
    load: () => import('./pages/endpoints.tsx').then(({ CapabilitiesPage }) => CapabilitiesPage),
  },
  {
    path: '/capabilities/:slug',
    title: 'Capability',
    inNavigation: false,
    section: '/endpoints',
    load: () => import('./pages/endpoints.tsx').then(({ CapabilityPage }) => CapabilityPage),
  },
  {
    path: '/status',
    title: 'Status',
    inNavigation: true,
    section: '/status',
    load: () => import('./pages/status.tsx').then(({ StatusPage }) => StatusPage),
  },
  {
    path: '/account',
    title: 'Account',
    inNavigation: false,
    section: '/account',
    load: () => import('./pages/account.tsx').then(({ AccountPage }) => AccountPage),
  },
];

export function findPage(path: string): { readonly entry: PageEntry; readonly params: RouteParams } | null {
  for (const entry of PAGES) {
    const params = matchRoute(entry.path, path);
    if (params !== null) return { entry, params };
  }
  return null;
}
