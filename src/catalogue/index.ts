import { getAccount } from './get-account.ts';
import { getAgent } from './get-agent.ts';
import { getCapability } from './get-capability.ts';
import { getGraph } from './get-graph.ts';
import { getLeaderboard } from './get-leaderboard.ts';
import { getMerchant } from './get-merchant.ts';
import { getSqlSchema } from './get-sql-schema.ts';
import { getTelemetry } from './get-telemetry.ts';
import { listAgents } from './list-agents.ts';
import { listAttestations } from './list-attestations.ts';
import { listCapabilities } from './list-capabilities.ts';
import { listEndpoints } from './list-endpoints.ts';
import { listEntitySettlements } from './list-entity-settlements.ts';
import { listFacilitators } from './list-facilitators.ts';
import { listFlows } from './list-flows.ts';
import { listTransactions } from './list-transactions.ts';
import { listWallets } from './list-wallets.ts';
import { mintTrialKey } from './mint-trial-key.ts';
import { type AnyOperation, erase, eraseUsage, type PriceListEntry } from './operation.ts';
import { runSql } from './run-sql.ts';

/** Every operation of the service, in the order of the documentation. */
export const OPERATIONS: readonly AnyOperation[] = [
  erase(getAccount),
  erase(listFlows),
  erase(listTransactions),
  erase(listEntitySettlements),
  erase(listWallets),
  erase(listFacilitators),
  erase(getMerchant),
  erase(getAgent),
  erase(listAgents),
  erase(getLeaderboard),
  erase(listAttestations),
  erase(getGraph),
  erase(listCapabilities),
  erase(getCapability),
  erase(listEndpoints),
  erase(getTelemetry),
  erase(getSqlSchema),
  eraseUsage(runSql),
  erase(mintTrialKey),
];

export const PRICE_LIST: readonly PriceListEntry[] = OPERATIONS.map(({ id, method, path, price }) => ({
  id,
  method,
  path,
  price,
}));
