import { GUEST_CHANGEABLE, GUEST_MEMORY_MAX_BYTES, guestSettings } from './guest-settings.ts';
import { localDatabaseOf, publicDatabaseOf, viewedDatabaseOf } from './public-database.ts';

/** The guest of a remote engine, as its operator makes it; docs/operators.md shows this. The embedded engine needs none of it. */
export function guestStatements(names: {
  readonly database: string;
  readonly guest: string;
  readonly writer: string;
}): string[] {
  const { database, guest, writer } = names;
  const settings = Object.entries(guestSettings(GUEST_MEMORY_MAX_BYTES)).map(([name, value]) => {
    const text = typeof value === 'number' ? String(value) : `'${value}'`;
    return `  ${name} = ${text}${boundsOf(name)}`;
  });
  return [
    `CREATE SETTINGS PROFILE ${guest} SETTINGS\n${settings.join(',\n')}`,
    `CREATE USER ${guest} IDENTIFIED WITH sha256_password BY '…' SETTINGS PROFILE '${guest}'`,
    `GRANT SELECT ON ${publicDatabaseOf(database)}.* TO ${guest}`,
    `GRANT KILL QUERY ON *.* TO ${writer}`,
    `GRANT SELECT ON system.processes TO ${writer}`,
  ];
}

function boundsOf(name: string): string {
  const bounds = Object.entries(GUEST_CHANGEABLE).find(([changeable]) => changeable === name)?.[1];
  return bounds === undefined ? '' : ` MIN ${bounds.min} MAX ${bounds.max} CHANGEABLE_IN_READONLY`;
}

/** What the guest may read: the public tables, on a cluster also each node's part of them, and views of them. */
export function guestGrants(database: string, isCluster: boolean): string[] {
  const tables = publicDatabaseOf(database);
  const ofNodes = [publicDatabaseOf(localDatabaseOf(database)), viewedDatabaseOf(database)];
  const databases = isCluster ? [tables, ...ofNodes] : [tables];
  return databases.map((name) => `GRANT SELECT ON ${name}.*`);
}
