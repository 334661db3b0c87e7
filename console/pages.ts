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
    title: 'Home',
    inNavigation: true,
    section: '/',
    load: () => import('./pages/home.tsx').then(({ HomePage }) => HomePage),
  },
  {
    path: '/dashboards',
    title: 'Dashboards',
    inNavigation: true,
    section: '/dashboards',
    load: () => import('./pages/dashboards.tsx').then(({ DashboardsPage }) => DashboardsPage),
  },
  {
    path: '/dashboards/:owner/:slug',
    title: 'Dashboard',
    inNavigation: false,
    section: '/dashboards',
    load: () => import('./pages/dashboards.tsx').then(({ DashboardPage }) => DashboardPage),
  },
  {
    path: '/dashboards/new',
    title: 'New dashboard',
    inNavigation: false,
    section: '/dashboards',
    load: () => import('./pages/dashboard-editor.tsx').then(({ DashboardEditorPage }) => DashboardEditorPage),
  },
  {
    path: '/dashboards/:owner/:slug/edit',
    title: 'Edit dashboard',
    inNavigation: false,
    section: '/dashboards',
    load: () => import('./pages/dashboard-editor.tsx').then(({ DashboardEditorPage }) => DashboardEditorPage),
  },
  {
    path: '/sql',
    title: 'SQL',
    inNavigation: true,
    section: '/sql',
    load: () => import('./pages/sql.tsx').then(({ SqlPage }) => SqlPage),
  },
  {
    path: '/shared/:token',
    title: 'Shared result',
    inNavigation: false,
    section: '/sql',
    load: () => import('./pages/shared.tsx').then(({ SharedPage }) => SharedPage),
  },
  {
    path: '/flow',
    title: 'Live flow',
    inNavigation: false,
    section: '/transactions',
    load: () => import('./pages/settlements.tsx').then(({ FlowPage }) => FlowPage),
  },
  {
    path: '/transactions',
    title: 'Settlements',
    inNavigation: true,
    section: '/transactions',
    load: () => import('./pages/settlements.tsx').then(({ TransactionsPage }) => TransactionsPage),
  },
  {
    path: '/transactions/:hash',
    title: 'Transaction',
    inNavigation: false,
    section: '/transactions',
    load: () => import('./pages/transaction.tsx').then(({ TransactionPage }) => TransactionPage),
  },
  {
    path: '/channels/:id',
    title: 'Channel',
    inNavigation: false,
    section: '/transactions',
    load: () => import('./pages/channel.tsx').then(({ ChannelPage }) => ChannelPage),
  },
  {
    path: '/pairs/:payer/:payee',
    title: 'Pair of wallets',
    inNavigation: false,
    section: '/transactions',
    load: () => import('./pages/pair.tsx').then(({ PairPage }) => PairPage),
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
    path: '/payers',
    title: 'Payers',
    inNavigation: true,
    section: '/payers',
    load: () => import('./pages/merchants.tsx').then(({ PayersPage }) => PayersPage),
  },
  {
    path: '/wallets',
    title: 'Wallets by address',
    inNavigation: false,
    section: '/merchants',
    load: () => import('./pages/merchants.tsx').then(({ WalletsPage }) => WalletsPage),
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
    path: '/agents-by-revenue',
    title: 'Agents by revenue',
    inNavigation: false,
    section: '/agents',
    load: () => import('./pages/agents.tsx').then(({ AgentsByRevenuePage }) => AgentsByRevenuePage),
  },
  {
    path: '/leaderboard',
    title: 'Leaderboard',
    inNavigation: false,
    section: '/agents',
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
    path: '/facilitators/:id',
    title: 'Facilitator',
    inNavigation: false,
    section: '/facilitators',
    load: () => import('./pages/facilitator.tsx').then(({ FacilitatorPage }) => FacilitatorPage),
  },
  {
    path: '/relayers',
    title: 'Relayers',
    inNavigation: false,
    section: '/facilitators',
    load: () => import('./pages/facilitators.tsx').then(({ RelayersPage }) => RelayersPage),
  },
  {
    path: '/endpoints',
    title: 'Endpoints',
    inNavigation: true,
    section: '/endpoints',
    load: () => import('./pages/endpoints.tsx').then(({ EndpointsPage }) => EndpointsPage),
  },
  {
    path: '/endpoints/:host',
    title: 'Endpoint',
    inNavigation: false,
    section: '/endpoints',
    load: () => import('./pages/endpoint.tsx').then(({ EndpointPage }) => EndpointPage),
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
    path: '/coverage',
    title: 'Coverage',
    inNavigation: false,
    section: '/status',
    load: () => import('./pages/coverage.tsx').then(({ CoveragePage }) => CoveragePage),
  },
  {
    path: '/account',
    title: 'Account',
    inNavigation: false,
    section: '/account',
    load: () => import('./pages/account.tsx').then(({ AccountPage }) => AccountPage),
  },
  {
    path: '/account/usage',
    title: 'Usage',
    inNavigation: false,
    section: '/account',
    load: () => import('./account/usage.tsx').then(({ UsagePage }) => UsagePage),
  },
  {
    path: '/account/keys',
    title: 'Keys',
    inNavigation: false,
    section: '/account',
    load: () => import('./account/keys.tsx').then(({ KeysPage }) => KeysPage),
  },
  {
    path: '/account/jobs',
    title: 'Jobs',
    inNavigation: false,
    section: '/account',
    load: () => import('./account/jobs.tsx').then(({ JobsPage }) => JobsPage),
  },
  {
    path: '/account/queries',
    title: 'Queries',
    inNavigation: false,
    section: '/account',
    load: () => import('./account/queries.tsx').then(({ QueriesPage }) => QueriesPage),
  },
  {
    path: '/account/saved',
    title: 'Saved queries',
    inNavigation: false,
    section: '/account',
    load: () => import('./account/saved-queries.tsx').then(({ SavedQueriesPage }) => SavedQueriesPage),
  },
];

export function findPage(path: string): { readonly entry: PageEntry; readonly params: RouteParams } | null {
  for (const entry of PAGES) {
    const params = matchRoute(entry.path, path);
    if (params !== null) return { entry, params };
  }
  return null;
}
