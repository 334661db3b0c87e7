import {
  currentDatabaseOf,
  localDatabaseOf,
  publicDatabaseOf,
  snapshotDatabaseOf,
  viewedDatabaseOf,
} from '../engine/databases.ts';
import { CLUSTER_SETTINGS } from '../engine/nodes.ts';
import { REMOTE_MEMORY_BYTES } from './memory.ts';
import { GUEST_ROWS_MAX, guestChangeable, guestSettings } from './settings.ts';

/** The SQL with which an operator creates the guest of a remote engine, shown in docs/operators.md. The embedded engine needs none. */
export function guestStatements(names: {
  readonly database: string;
  readonly guest: string;
  readonly writer: string;
}): string[] {
  const { database, guest, writer } = names;
  const pinned = guestSettings(REMOTE_MEMORY_BYTES);
  const settings = Object.entries(pinned).map(([name, value]) => {
    const text = typeof value === 'number' ? String(value) : `'${value}'`;
    return `  ${name} = ${text}${boundsOf(name)}`;
  });
  // Changeable, and without a value of ours.
  const others = Object.keys(guestChangeable(REMOTE_MEMORY_BYTES, false)).filter((name) => !(name in pinned));
  settings.push(...others.map((name) => `  ${name}${boundsOf(name)}`));
  return [
    `CREATE SETTINGS PROFILE ${guest} SETTINGS\n${settings.join(',\n')}`,
    `CREATE USER ${guest} IDENTIFIED WITH sha256_password BY '…' SETTINGS PROFILE '${guest}'`,
    ...guestGrants(database, false).map((grant) => `${grant} TO ${guest}`),
    `GRANT KILL QUERY ON *.* TO ${writer}`,
    `GRANT SELECT ON system.processes TO ${writer}`,
  ];
}

/**
 * The further grants for the users of every cluster node, shown in docs/operators.md. `node` is the user as which the nodes query
 * each other.
 */
export function clusterStatements(names: {
  readonly database: string;
  readonly node: string;
  readonly guest: string;
  readonly reader: string;
  readonly writer: string;
}): string[] {
  const { database, node, guest, reader, writer } = names;
  const local = localDatabaseOf(database);
  const settings = Object.entries(CLUSTER_SETTINGS).map(([name, value]) =>
    typeof value === 'number' ? `  ${name} = ${value}` : `  ${name} = '${value}'`,
  );
  return [
    `CREATE USER ${node} IDENTIFIED WITH sha256_password BY '…'`,
    `GRANT SELECT, INSERT ON ${database}.* TO ${node}`,
    `GRANT SELECT, INSERT ON ${local}.* TO ${node}`,
    `GRANT SELECT ON ${publicDatabaseOf(local)}.* TO ${node}`,
    `GRANT SELECT ON system.processes TO ${node}`,
    `GRANT SELECT ON system.parts TO ${node}`,
    `GRANT SELECT ON ${local}.* TO ${reader}`,
    `GRANT REMOTE ON *.* TO ${writer}`,
    `GRANT SELECT ON system.clusters TO ${writer}`,
    ...guestGrants(database, true).map((grant) => `${grant} TO ${guest}`),
    `ALTER SETTINGS PROFILE ${guest} ADD SETTINGS\n  limit = ${GUEST_ROWS_MAX}${boundsOf('limit', true)},\n${settings.join(',\n')}`,
  ];
}

function boundsOf(name: string, isNode = false): string {
  const bounds = guestChangeable(REMOTE_MEMORY_BYTES, isNode)[name];
  if (bounds === undefined) return '';
  return bounds === null
    ? ' CHANGEABLE_IN_READONLY'
    : ` MIN ${bounds.min} MAX ${bounds.max} CHANGEABLE_IN_READONLY`;
}

/** The guest's grants: the public tables; on a cluster also each node's local part of them, and the views. */
export function guestGrants(database: string, isCluster: boolean): string[] {
  const tables = publicDatabaseOf(database);
  const ofNodes = [publicDatabaseOf(localDatabaseOf(database)), viewedDatabaseOf(database)];
  const databases = isCluster
    ? [tables, ...ofNodes]
    : [tables, snapshotDatabaseOf(database), currentDatabaseOf(database)];
  const grants = databases.map((name) => `GRANT SELECT ON ${name}.*`);
  // A node looks up the final block on the first shard, possibly as the guest.
  const looked = `GRANT SELECT(chain, finalized_block) ON ${localDatabaseOf(database)}.chain_status`;
  return isCluster ? [...grants, looked] : grants;
}
