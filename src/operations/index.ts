import { getAccount } from './account/declare.ts';
import { changeAccountKey, listAccountKeys, makeAccountKey, revokeAccountKey } from './account/keys.ts';
import { forgetAccountQueries, listAccountQueries } from './account/queries.ts';
import { mintTrialKey } from './account/trial-key.ts';
import { getAccountUsage } from './account/usage.ts';
import { listAgents } from './agents/declare.ts';
import { getLeaderboard } from './agents/leaderboard.ts';
import { listAttestations } from './attestations/declare.ts';
import { getBundleFile } from './bundles/file.ts';
import { listBundles } from './bundles/list.ts';
import { getCapability } from './capabilities/capability.ts';
import { listCapabilities } from './capabilities/list.ts';
import { getChannel, listEntityChannels } from './channels/declare.ts';
import { getCoverage } from './coverage/declare.ts';
import type { ServiceDeps } from './create-deps.ts';
import { getDashboard, getDashboardPanel, listDashboards } from './dashboards/declare.ts';
import { deleteDashboard, saveDashboard } from './dashboards/save.ts';
import type { AnyDeclared, AnyOperation } from './define.ts';
import type { PriceListEntry } from './deps.ts';
import { listEndpoints } from './endpoints/declare.ts';
import { listFacilitators } from './facilitators/declare.ts';
import { getGraph } from './graph/declare.ts';
import { listMerchants } from './rankings/merchants.ts';
import { register } from './register.ts';
import { callSavedQuery } from './saved/call.ts';
import { getSavedQuery, listQueryRefreshes, listQueryVersions, listSavedQueries } from './saved/own.ts';
import { getOwnerOpenApi, getPublicQuery, listPublicQueries } from './saved/public.ts';
import { claimHandle, deleteSavedQuery, saveQuery } from './saved/save.ts';
import { listFlows, listTransactions } from './settlements/declare.ts';
import { getTransaction } from './settlements/transaction.ts';
import { runSql } from './sql/declare.ts';
import { cancelSqlJob, createSqlJob, getSqlJob, listSqlJobs } from './sql/jobs.ts';
import { getResult } from './sql/result.ts';
import { cancelRunningQuery, getRunningQuery } from './sql/running.ts';
import { getSqlSchema } from './sql/schema.ts';
import { getSharedResult, listResultShares, revokeResultShare, shareResult } from './sql/shares.ts';
import { deleteTable, getTable, listTables, putTable } from './tables/declare.ts';
import { getTelemetry } from './telemetry/declare.ts';
import { listCounterparties } from './wallets/counterparties.ts';
import { listWallets } from './wallets/list.ts';
import { getAgent, getMerchant } from './wallets/merchant.ts';
import { getPair } from './wallets/pair.ts';
import { listEntitySettlements } from './wallets/settlements.ts';
import { getEntitySummary } from './wallets/summary.ts';

/** In the order of the documentation. The compiler refuses one that needs what the composition does not make. */
const DECLARED: readonly AnyDeclared<ServiceDeps>[] = [
  getAccount,
  getAccountUsage,
  listAccountQueries,
  forgetAccountQueries,
  listAccountKeys,
  makeAccountKey,
  changeAccountKey,
  revokeAccountKey,
  claimHandle,
  listFlows,
  listTransactions,
  getTransaction,
  listEntitySettlements,
  getEntitySummary,
  listCounterparties,
  listEntityChannels,
  getChannel,
  getPair,
  listWallets,
  listFacilitators,
  listMerchants,
  getMerchant,
  getAgent,
  listAgents,
  getLeaderboard,
  listAttestations,
  getGraph,
  listCapabilities,
  getCapability,
  listEndpoints,
  listBundles,
  getBundleFile,
  getTelemetry,
  getCoverage,
  getSqlSchema,
  runSql,
  getRunningQuery,
  cancelRunningQuery,
  createSqlJob,
  listSqlJobs,
  getSqlJob,
  cancelSqlJob,
  getResult,
  shareResult,
  listResultShares,
  revokeResultShare,
  getSharedResult,
  putTable,
  listTables,
  getTable,
  deleteTable,
  saveQuery,
  listSavedQueries,
  getSavedQuery,
  deleteSavedQuery,
  listQueryVersions,
  listQueryRefreshes,
  listPublicQueries,
  callSavedQuery,
  getPublicQuery,
  getOwnerOpenApi,
  listDashboards,
  getDashboard,
  getDashboardPanel,
  saveDashboard,
  deleteDashboard,
  mintTrialKey,
];

/** Every operation of the service. */
export const OPERATIONS: readonly AnyOperation<ServiceDeps>[] = DECLARED.map(register);

export const PRICE_LIST: readonly PriceListEntry[] = OPERATIONS.map(({ id, method, path, price }) => ({
  id,
  method,
  path,
  price,
}));
