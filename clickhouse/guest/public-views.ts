import { PUBLIC_TABLE_NAMES, PUBLIC_TABLES, type PublicTableName } from '../../core/domain/public-tables.ts';
import { localDatabaseOf, publicDatabaseOf } from './public-database.ts';
import type { ViewBody } from './views/body.ts';
import { endpointsBody, facilitatorsBody } from './views/catalogues.ts';
import { merchantDaysBody, payerDaysBody } from './views/days.ts';
import { agentsBody, attestationsBody } from './views/identities.ts';
import { settlementsBody, walletSettlementsBody } from './views/settlements.ts';

/**
 * The public tables as views in a database of their own. The guest may read only these; they run with their definer's rights
 * (docs/design/storage.md, docs/design/sandbox.md). Every start creates them again from the one declaration, so they are not
 * migrations; the indexes that they rely on are.
 * The bodies are in views/, by resource.
 */

/** The stored table whose rows match a public table one to one, or nearly; null if there is none. */
export const PUBLIC_TABLE_STORES: Readonly<Record<PublicTableName, string | null>> = {
  settlements: 'settlements',
  wallet_settlements: 'wallet_log',
  agents: 'agents',
  attestations: 'agent_attestations',
  endpoints: 'endpoint_offers',
  facilitators: 'facilitator_relayers',
  merchant_days: 'payee_day',
  payer_days: 'payer_day',
};

/** The databases of the views and their tables. */
export interface PublicViewNames {
  /** The database of the views. */
  readonly into: string;
  /** The database of the tables that they show; on a cluster node the local one. */
  readonly rows: string;
  /** The database for look-ups in other tables; on a cluster that of the tables over all nodes. */
  readonly beside: string;
}

/** The statements that make every view, to be run by the writer. */
export function publicViewStatements(
  database: string,
  { into, rows, beside }: PublicViewNames = {
    into: publicDatabaseOf(database),
    rows: database,
    beside: database,
  },
): string[] {
  const bodies = viewBodies(rows, beside);
  return PUBLIC_TABLE_NAMES.map((name) => {
    const { columns, from } = bodies[name] as { columns: Readonly<Record<string, string>>; from: string }; // each name has the columns of its own table, by ViewBodies
    const listed = PUBLIC_TABLES[name].columns.map((column) => `${columns[column.name]} AS ${column.name}`);
    return `CREATE OR REPLACE VIEW ${into}.${name} DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT ${listed.join(', ')} FROM ${from}`;
  });
}

type ViewBodies = { readonly [Name in PublicTableName]: ViewBody<Name> };

function viewBodies(database: string, beside: string): ViewBodies {
  return {
    settlements: settlementsBody(database, beside),
    wallet_settlements: walletSettlementsBody(database),
    agents: agentsBody(database),
    attestations: attestationsBody(database),
    endpoints: endpointsBody(database),
    facilitators: facilitatorsBody(database),
    merchant_days: merchantDaysBody(database),
    payer_days: payerDaysBody(database),
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
      `SELECT query_id, query_kind, user, map('log_comment', Settings['log_comment']) AS Settings,
  if(is_initial_query, current_database, '${database}') AS current_database FROM system.processes`,
    ),
    view(
      NODE_VIEWS.parts,
      `SELECT if(database = '${localDatabaseOf(database)}', '${database}', database) AS database, table, active, rows
FROM system.parts`,
    ),
  ];
}
