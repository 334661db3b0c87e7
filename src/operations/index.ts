import type { TObject } from '@sinclair/typebox';
import { getAccount } from './account/declare.ts';
import { changeAccountKey, listAccountKeys, makeAccountKey, revokeAccountKey } from './account/keys.ts';
import type { AccountDeps } from './account/own-account.ts';
import { forgetAccountQueries, listAccountQueries } from './account/queries.ts';
import { mintTrialKey } from './account/trial-key.ts';
import { getAccountUsage } from './account/usage.ts';
import { listAgents } from './agents/declare.ts';
import { getLeaderboard } from './agents/leaderboard.ts';
import type { LeaderboardDeps } from './agents/read-leaderboard.ts';
import { listAttestations } from './attestations/declare.ts';
import { getBundleFile } from './bundles/file.ts';
import { type BundleDeps, listBundles } from './bundles/list.ts';
import { getCapability } from './capabilities/capability.ts';
import { listCapabilities } from './capabilities/list.ts';
import type { CapabilityDeps } from './capabilities/read.ts';
import type { AnyOperation, Operation } from './define.ts';
import type { PriceListEntry } from './deps.ts';
import { listEndpoints } from './endpoints/declare.ts';
import type { EndpointDeps } from './endpoints/sources.ts';
import { listFacilitators } from './facilitators/declare.ts';
import type { RelayerDeps } from './facilitators/read.ts';
import { getGraph } from './graph/declare.ts';
import type { GraphDeps } from './graph/read.ts';
import type { Params } from './params.ts';
import { listMerchants } from './rankings/merchants.ts';
import type { RankingDeps } from './rankings/rankings.ts';
import { register } from './register.ts';
import { callSavedQuery } from './saved/call.ts';
import { getSavedQuery, listQueryRefreshes, listQueryVersions, listSavedQueries } from './saved/own.ts';
import { getOwnerOpenApi, getPublicQuery, listPublicQueries } from './saved/public.ts';
import { claimHandle, deleteSavedQuery, saveQuery } from './saved/save.ts';
import type { SavedDeps } from './saved/saved-queries.ts';
import { listFlows, listTransactions } from './settlements/declare.ts';
import type { SettlementDeps } from './settlements/list.ts';
import { getTransaction } from './settlements/transaction.ts';
import { runSql } from './sql/declare.ts';
import { cancelSqlJob, createSqlJob, getSqlJob, listSqlJobs } from './sql/jobs.ts';
import type { SqlDeps } from './sql/kept.ts';
import { getResult } from './sql/result.ts';
import { getSqlSchema, type SchemaDeps } from './sql/schema.ts';
import { getTelemetry, type TelemetryDeps } from './telemetry/declare.ts';
import { listCounterparties } from './wallets/counterparties.ts';
import { listWallets } from './wallets/list.ts';
import { getAgent, getMerchant } from './wallets/merchant.ts';
import { getPair } from './wallets/pair.ts';
import { listEntitySettlements } from './wallets/settlements.ts';
import { getEntitySummary } from './wallets/summary.ts';

/** What the resources need, each by its own interface; create-deps.ts makes it. */
export interface ServiceDeps
  extends BundleDeps,
    CapabilityDeps,
    EndpointDeps,
    GraphDeps,
    LeaderboardDeps,
    RankingDeps,
    RelayerDeps,
    SchemaDeps,
    SettlementDeps,
    SqlDeps,
    TelemetryDeps {
  readonly accounts: Accounts;
}

/** The accounts as operations may use them. Rejects with a `Failure`. */
export type Accounts = AccountDeps['accounts'] & SavedDeps['accounts'];

type ServiceOperation = Operation<Params, TObject, TObject, unknown, unknown, unknown, ServiceDeps>;

/** In the order of the documentation. */
const DECLARED: readonly ServiceOperation[] = [
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
  getSqlSchema,
  runSql,
  createSqlJob,
  listSqlJobs,
  getSqlJob,
  cancelSqlJob,
  getResult,
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
  mintTrialKey,
];

/** Every operation of the service. */
export const OPERATIONS: readonly AnyOperation<ServiceDeps>[] = DECLARED.map((operation) =>
  register(operation),
);

export const PRICE_LIST: readonly PriceListEntry[] = OPERATIONS.map(({ id, method, path, price }) => ({
  id,
  method,
  path,
  price,
}));
