import type { Answer, Schemas, SqlAnswer } from '../client/index.ts';

export type { SqlEstimate, SqlWarning } from '../client/index.ts';

/** Short names for the wire types of the client package, which are generated from the OpenAPI document. */

export type Account = Answer<'getAccount'>;
export type Agents = Answer<'listAgents'>;
export type Capabilities = Answer<'listCapabilities'>;
export type CapabilityOffers = Answer<'getCapability'>;
export type Endpoints = Answer<'listEndpoints'>;
export type EntitySettlements = Answer<'listEntitySettlements'>;
export type Facilitators = Answer<'listFacilitators'>;
export type Flows = Answer<'listFlows'>;
export type Graph = Answer<'getGraph'>;
/** Rankings by payments, which the console does not ask for, have other rows. */
export type Leaderboard = Extract<Answer<'getLeaderboard'>, { meta: { page_scored_agents: number } }>;
export type Profile = Answer<'getMerchant'>;
export type Telemetry = Answer<'getTelemetry'>;
export type Transactions = Answer<'listTransactions'>;
export type Wallets = Answer<'listWallets'>;

export type Agent = Schemas['Agent'];
export type ChainTelemetry = Schemas['ChainTelemetry'];
export type Day = Schemas['DailyFlows'];
export type Endpoint = Schemas['Endpoint'];
export type GraphEdge = Schemas['GraphEdge'];
export type Relayer = Schemas['Relayer'];
export type RoutePrice = Schemas['RoutePrice'];
/** `/transactions` does not look up names; the other lists of settlements do. */
export type Settlement = Schemas['Settlement'] & Partial<Schemas['NamedSettlement']>;
export type SqlColumn = Schemas['SqlColumn'];
/** In the format `json_compact`: rows are arrays. */
export type SqlResult = SqlAnswer<unknown[]>;
export type SqlTable = Required<Schemas['SqlTable']>;
export type SqlTierAccess = Schemas['AccountSqlTier'];
export type Wallet = Wallets['wallets'][number];
/** The answer to `table=*&functions=*`, which leaves no field out. */
export type SqlSchema = Required<Omit<Answer<'getSqlSchema'>, 'tables'>> & {
  readonly tables: readonly SqlTable[];
};
