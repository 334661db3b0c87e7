import type { Static, TSchema } from '@sinclair/typebox';
import type * as wire from '../../console/parts/wire.ts';
import type * as service from '../../console/parts/wire-service.ts';
import type { getAccount } from '../../src/catalogue/get-account.ts';
import type { getAgent } from '../../src/catalogue/get-agent.ts';
import type { getCapability } from '../../src/catalogue/get-capability.ts';
import type { getGraph } from '../../src/catalogue/get-graph.ts';
import type { getLeaderboard } from '../../src/catalogue/get-leaderboard.ts';
import type { getMerchant } from '../../src/catalogue/get-merchant.ts';
import type { getTelemetry } from '../../src/catalogue/get-telemetry.ts';
import type { listAgents } from '../../src/catalogue/list-agents.ts';
import type { listCapabilities } from '../../src/catalogue/list-capabilities.ts';
import type { listEndpoints } from '../../src/catalogue/list-endpoints.ts';
import type { listEntitySettlements } from '../../src/catalogue/list-entity-settlements.ts';
import type { listFacilitators } from '../../src/catalogue/list-facilitators.ts';
import type { listFlows } from '../../src/catalogue/list-flows.ts';
import type { listTransactions } from '../../src/catalogue/list-transactions.ts';
import type { listWallets } from '../../src/catalogue/list-wallets.ts';
import type { Assert, Fits } from './assert.ts';

type Answer<Operation extends { readonly output: TSchema }> = Static<Operation['output']>;

/** What the console reads is what the operations declare. */
export type Reads = [
  Assert<Fits<Answer<typeof listFlows>, wire.FlowsAnswer>>,
  Assert<Fits<Answer<typeof listTransactions>, wire.TransactionsAnswer>>,
  Assert<Fits<Answer<typeof listEntitySettlements>, wire.EntitySettlementsAnswer>>,
  Assert<Fits<Answer<typeof getMerchant>, wire.ProfileAnswer>>,
  Assert<Fits<Answer<typeof getAgent>, wire.ProfileAnswer>>,
  Assert<Fits<Answer<typeof getGraph>, wire.GraphAnswer>>,
  Assert<Fits<Answer<typeof listAgents>, wire.AgentsAnswer>>,
  Assert<Fits<Answer<typeof getLeaderboard>, wire.LeaderboardAnswer>>,
  Assert<Fits<Answer<typeof listWallets>, wire.WalletsAnswer>>,
  Assert<Fits<Answer<typeof listFacilitators>, wire.FacilitatorsAnswer>>,
  Assert<Fits<Answer<typeof listEndpoints>, wire.EndpointsAnswer>>,
  Assert<Fits<Answer<typeof listCapabilities>, wire.CapabilitiesAnswer>>,
  Assert<Fits<Answer<typeof getCapability>, wire.CapabilityAnswer>>,
  Assert<Fits<Answer<typeof getTelemetry>, service.TelemetryAnswer>>,
  Assert<Fits<Answer<typeof getAccount>, service.AccountAnswer>>,
];
