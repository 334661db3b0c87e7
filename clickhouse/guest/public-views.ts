import { PUBLIC_TABLE_NAMES, type PublicTableName } from '../../core/domain/public-tables.ts';
import { localDatabaseOf, publicDatabaseOf } from '../engine/databases.ts';
import type { WalletIdKey } from '../tables/wallet-ids.ts';
import { INVOKER, type ViewBody, viewStatementOf } from './views/body.ts';
import {
  endpointsBody,
  facilitatorsBody,
  proposedRelayersBody,
  relayersBody,
  tokensBody,
} from './views/catalogues.ts';
import { channelEventsBody, channelsBody } from './views/channels.ts';
import { coverageStatement } from './views/coverage.ts';
import { coverageDaysBody } from './views/coverage-days.ts';
import { facilitatorDaysBody, merchantDaysBody, pairDaysBody, payerDaysBody } from './views/days.ts';
import { type PublicFacts, publicFacts } from './views/facts.ts';
import { agentsBody, attestationsBody } from './views/identities.ts';
import {
  finalBlocksIn,
  settlementsBody,
  transactionFeesBody,
  walletSettlementsBody,
} from './views/settlements.ts';
import { walletNamesBody, walletRingsBody, walletsBody, walletVerdictsBody } from './views/wallets.ts';

/**
 * The public tables as views in a database of their own. The guest may read only these; they run with their definer's rights
 * (docs/design/storage.md, docs/design/sandbox.md). Every start creates them again from the one declaration, so they are not
 * migrations; the indexes that they rely on are.
 * The bodies are in views/, by resource.
 */

/** The stored table whose rows match a public table one to one, or nearly; null if there is none. */
export const PUBLIC_TABLE_STORES: Readonly<Record<PublicTableName, string | null>> = {
  settlements: 'settlements',
  wallet_settlements: 'wallet_rows',
  agents: 'agents',
  attestations: 'agent_attestations',
  endpoints: 'endpoint_offers',
  facilitators: 'facilitator_relayers',
  merchant_days: 'payee_day',
  payer_days: 'payer_day',
  pair_days: 'pair_day',
  facilitator_days: 'chain_hour',
  wallets: 'wallet_seen',
  wallet_names: 'agent_wallets',
  wallet_rings: 'wallet_rings',
  tokens: null,
  relayers: 'relayer_accounts',
  transaction_fees: 'transaction_fees',
  wallet_verdicts: 'wallet_verdicts',
  channels: 'channel_rows',
  channel_events: 'channel_rows',
  proposed_relayers: 'proposed_relayers',
  coverage_days: null,
};

/** The databases of the views and their tables, and what the views show. */
export interface PublicViewNames {
  /** The database of the views. */
  readonly into: string;
  /** The database of the tables that they show; on a cluster node the local one. */
  readonly rows: string;
  /** The database for look-ups in other tables; on a cluster that of the tables over all nodes. */
  readonly beside: string;
  readonly facts: PublicFacts;
  /** With which the ids of wallets are made. */
  readonly idKey: WalletIdKey;
  /** Whether the rows of views without a stored table are here: on a cluster on the first shard alone. */
  readonly hasFacts: boolean;
}

/** The statements that make every view of a single engine, to be run by the writer. */
export function publicViewStatements(
  database: string,
  idKey: WalletIdKey,
  facts: PublicFacts = publicFacts(),
): string[] {
  const into = publicDatabaseOf(database);
  return [
    ...storedViewStatements({ into, rows: database, beside: database, facts, idKey, hasFacts: true }),
    ...overviewStatements({ into, beside: database, idKey }),
  ];
}

/** The views over stored tables. On a cluster each node has them over its own rows. */
export function storedViewStatements(names: PublicViewNames): string[] {
  const bodies = viewBodies(names);
  return [
    coverageStatement(names.rows, names.idKey),
    ...STORED_VIEWS.map((name) => viewStatementOf(names.into, name, bodies[name])),
  ];
}

/** The views over other public tables, made after those, and over tables of all nodes: on a cluster once. */
export function overviewStatements({
  into,
  beside,
  idKey,
}: Pick<PublicViewNames, 'into' | 'beside' | 'idKey'>): string[] {
  return [
    viewStatementOf(into, 'wallets', walletsBody(into, idKey), INVOKER),
    viewStatementOf(into, 'channels', channelsBody(into), INVOKER),
    viewStatementOf(into, 'coverage_days', coverageDaysBody(`${beside}.`)),
  ];
}

const OVERVIEWS = ['wallets', 'channels', 'coverage_days'] as const satisfies readonly PublicTableName[];
type StoredView = Exclude<PublicTableName, (typeof OVERVIEWS)[number]>;
export const STORED_VIEWS: readonly StoredView[] = PUBLIC_TABLE_NAMES.filter(
  (name): name is StoredView => !OVERVIEWS.some((overview) => overview === name),
);

type ViewBodies = { readonly [Name in StoredView]: ViewBody<Name> };

function viewBodies({ rows, beside, facts, idKey, hasFacts }: PublicViewNames): ViewBodies {
  return {
    settlements: settlementsBody({ database: rows, finalBlocks: finalBlocksIn(beside), facts, idKey }),
    wallet_settlements: walletSettlementsBody(rows, facts, idKey),
    agents: agentsBody(rows),
    attestations: attestationsBody(rows),
    endpoints: endpointsBody(rows),
    facilitators: facilitatorsBody(rows),
    merchant_days: merchantDaysBody(rows, idKey),
    payer_days: payerDaysBody(rows, idKey),
    pair_days: pairDaysBody(rows, idKey),
    facilitator_days: facilitatorDaysBody(rows, facts),
    wallet_names: walletNamesBody(rows),
    wallet_rings: walletRingsBody(rows),
    tokens: tokensBody(facts, hasFacts),
    relayers: relayersBody(rows),
    transaction_fees: transactionFeesBody(rows, facts),
    wallet_verdicts: walletVerdictsBody(rows),
    channel_events: channelEventsBody(rows, facts),
    proposed_relayers: proposedRelayersBody(rows),
  };
}

/**
 * An engine's running statements and stored parts, as views in our database: the same query covers a single engine or all nodes of a
 * cluster (cluster/ddl.ts). The querying user needs read rights on the underlying tables.
 */
export const NODE_VIEWS = {
  /** Running statements, with the column names of `system.processes`. Sub-queries from other nodes are listed under our database: only our statements cause them. */
  statements: 'engine_statements',
  /** Stored parts, by the name of the table that queries read. */
  parts: 'engine_parts',
} as const;

/** The statements that create these views in `into`, for the tables of `database`. */
export function nodeViewStatements(database: string, into: string = database): string[] {
  const view = (name: string, select: string): string =>
    `CREATE OR REPLACE VIEW ${into}.${name} SQL SECURITY INVOKER AS ${select}`;
  return [
    view(
      NODE_VIEWS.statements,
      `SELECT query_id, query_kind, user, elapsed, map('log_comment', Settings['log_comment']) AS Settings,
  if(is_initial_query, current_database, '${database}') AS current_database FROM system.processes`,
    ),
    view(
      NODE_VIEWS.parts,
      `SELECT if(database = '${localDatabaseOf(database)}', '${database}', database) AS database, table, active, rows
FROM system.parts`,
    ),
  ];
}
