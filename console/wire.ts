import type { Answer, Schemas, SqlAnswer } from '../client/index.ts';

export type { SqlEstimate, SqlWarning } from '../client/index.ts';

/** Short names for the wire types of the client package, which are generated from the OpenAPI document. */

export type Account = Answer<'getAccount'>;
export type AccountKeys = Answer<'listAccountKeys'>;
export type Agents = Answer<'listAgents'>;
export type Capabilities = Answer<'listCapabilities'>;
export type CapabilityOffers = Answer<'getCapability'>;
export type ChannelAnswer = Answer<'getChannel'>;
export type Coverage = Answer<'getCoverage'>;
export type Counterparties = Answer<'listCounterparties'>;
export type Endpoints = Answer<'listEndpoints'>;
export type EntityChannels = Answer<'listEntityChannels'>;
export type EntitySettlements = Answer<'listEntitySettlements'>;
export type Facilitators = Answer<'listFacilitators'>;
export type Flows = Answer<'listFlows'>;
export type Graph = Answer<'getGraph'>;
/** Agents by ratings. */
export type Leaderboard = Extract<Answer<'getLeaderboard'>, { meta: { page_scored_agents: number } }>;
/** Any subject by payments. */
export type Rankings = Schemas['PaymentRanking'];
export type RankedRow = Schemas['RankedRow'];
export type Merchants = Answer<'listMerchants'>;
export type MadeKey = Answer<'makeAccountKey'>;
export type MadeShare = Answer<'shareResult'>;
export type ResultShares = Answer<'listResultShares'>;
export type SharedResult = Answer<'getSharedResult'>;
export type Pair = Answer<'getPair'>;
export type WalletSummary = Answer<'getEntitySummary'>;
export type Profile = Answer<'getMerchant'>;
export type QueryRuns = Answer<'listAccountQueries'>;
export type SaveQueryAnswer = Answer<'saveQuery'>;
export type SavedQueries = Answer<'listSavedQueries'>;
export type RunningQuery = Answer<'getRunningQuery'>;
export type SqlJobs = Answer<'listSqlJobs'>;
export type Telemetry = Answer<'getTelemetry'>;
export type Transaction = Answer<'getTransaction'>;
export type Transactions = Answer<'listTransactions'>;
export type Usage = Answer<'getAccountUsage'>;
export type Wallets = Answer<'listWallets'>;

export type AccountKey = Schemas['ListedAccountKey'];
export type Agent = Schemas['Agent'];
export type BoardPanel = Schemas['Panel'];
export type Dashboard = Schemas['Dashboard'];
export type ListedDashboard = Schemas['ListedDashboard'];
export type Channel = Schemas['Channel'];
export type ChainTelemetry = Schemas['ChainTelemetry'];
export type CoverageDay = Schemas['CoverageDay'];
export type Counterparty = Schemas['Counterparty'];
export type Endpoint = Schemas['Endpoint'];
export type GraphEdge = Schemas['GraphEdge'];
export type QueryRefresh = Schemas['QueryRefresh'];
export type QueryRun = Schemas['QueryRun'];
export type Relayer = Schemas['Relayer'];
export type RoutePrice = Schemas['RoutePrice'];
export type SavedQuery = Schemas['SavedQuery'];
export type SavedQueryVersion = Schemas['SavedQueryVersion'];
export type SaveQueryRequest = Schemas['SaveQueryRequest'];
/** `/transactions` does not look up names; the other lists of settlements do. */
export type Settlement = Schemas['Settlement'] & Partial<Schemas['NamedSettlement']>;
export type SqlColumn = Schemas['SqlColumn'];
/** In the format `json_compact`: rows are arrays. */
export type SqlResult = SqlAnswer<unknown[]>;
export type SqlJob = Schemas['SqlJob'];
export type SqlProgress = Schemas['SqlProgress'];
export type SqlTable = Required<Schemas['SqlTable']>;
export type SqlTierAccess = Schemas['AccountSqlTier'];
export type UsageRow = Schemas['UsageRow'];
export type Wallet = Wallets['wallets'][number];
export type OwnTable = Schemas['OwnTable'];
/** The answer to `table=*&functions=*`, which leaves no field out; own tables are an organization's. */
export type SqlSchema = Required<Omit<Answer<'getSqlSchema'>, 'tables' | 'own_tables'>> & {
  readonly tables: readonly SqlTable[];
  readonly own_tables?: readonly OwnTable[];
};
