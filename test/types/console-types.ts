import type { Static, TSchema } from '@sinclair/typebox';
import type * as wire from '../../console/parts/wire.ts';
import type * as service from '../../console/parts/wire-service.ts';
import type { getAccount } from '../../src/operations/account/declare.ts';
import type { getAgent, listAgents } from '../../src/operations/agents/declare.ts';
import type { getLeaderboard } from '../../src/operations/agents/leaderboard.ts';
import type { getCapability } from '../../src/operations/capabilities/capability.ts';
import type { listCapabilities } from '../../src/operations/capabilities/list.ts';
import type { listEndpoints } from '../../src/operations/endpoints/declare.ts';
import type { listFacilitators } from '../../src/operations/facilitators/declare.ts';
import type { getGraph } from '../../src/operations/graph/declare.ts';
import type { listFlows, listTransactions } from '../../src/operations/settlements/declare.ts';
import type { getTelemetry } from '../../src/operations/telemetry/declare.ts';
import type { listWallets } from '../../src/operations/wallets/list.ts';
import type { getMerchant } from '../../src/operations/wallets/merchant.ts';
import type { listEntitySettlements } from '../../src/operations/wallets/settlements.ts';
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
