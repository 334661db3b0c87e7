import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, statfsSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { localDatabaseOf, publicDatabaseOf } from '../engine/databases.ts';
import type { EngineUser } from '../engine/engine.ts';
import { CLUSTER_SETTINGS } from '../engine/nodes.ts';
import { guestMemoryBytes } from '../guest/memory.ts';
import {
  guestChangeable,
  guestSettings,
  PARAMETER_MAX_BYTES,
  RESULT_READ_MAX_SECONDS,
} from '../guest/settings.ts';
import { guestGrants } from '../guest/sql.ts';

/**
 * The engine's two configuration files. Users come from a file because the embedded engine has no writable access storage.
 *
 * The local session logs in as `default` without a password, and an open HTTP port would let every process on the machine do the
 * same and read our files with the function `file()`. Restricting the networks of `default` does not help, because the local session
 * counts as 127.0.0.1. So the port serves queries only under a random path, which is part of `EngineAccess.url`.
 */

export interface EngineUsers {
  readonly writer: EngineUser;
  readonly reader: EngineUser;
  readonly guest: EngineUser;
}

export interface EngineLimits {
  readonly maxMemoryMegabytes: number;
}

/** An engine as a node of a cluster. For tests, and only on loopback: see `EmbeddedEngineOptions.node`. */
export interface ClusterFiles {
  /** Its name in `remote_servers`. */
  readonly name: string;
  /** Native protocol ports on 127.0.0.1: the ports of each shard's replicas, in the order of the shards. */
  readonly shards: readonly (readonly number[])[];
  /** This engine's port, one of `shards`. */
  readonly tcpPort: number;
  /** The user as which the nodes query each other; the same on all of them. */
  readonly user: EngineUser;
  /** If true, nodes query each other as the initial user instead; the password is then their shared secret. */
  readonly asWhoeverAsked: boolean;
}

const PASSWORD_BYTES = 24;

/** The path for queries; as secret as a password. */
export function randomQueryPath(): string {
  return `/${randomBytes(PASSWORD_BYTES).toString('base64url')}`;
}

/** New passwords for every start of the program. They stay in memory; the files hold only their SHA-256. */
export function randomUsers(): EngineUsers {
  return { writer: randomUser('writer'), reader: randomUser('reader'), guest: randomUser('guest') };
}

export function randomUser(user: string): EngineUser {
  return { user, password: randomBytes(PASSWORD_BYTES).toString('base64url') };
}

export interface EngineFiles {
  /** Created when missing; readable by this user only. */
  readonly directory: string;
  readonly database: string;
  readonly users: EngineUsers;
  readonly queryPath: string;
  readonly limits: EngineLimits;
  /** Databases that the reader may read; a trailing `*` makes it a prefix. */
  readonly readerDatabases: readonly string[];
  /** Where BACKUP writes: the disk `backups`. Absolute. */
  readonly backupsDir: string;
  /** Whether the engine keeps `system.query_log`. */
  readonly queryLog: boolean;
  /** Null for a single engine. */
  readonly cluster: ClusterFiles | null;
}

/** The only directory that BACKUP writes to and RESTORE reads from. `dataDir` is the engine's own directory. */
export function backupsDirOf(dataDir: string): string {
  return join(resolve(dataDir), 'backups');
}

/** Writes `config.xml` and `users.xml` (mode 0600) and returns the path of the former. */
export function writeEngineFiles(files: EngineFiles): string {
  mkdirSync(files.directory, { recursive: true, mode: 0o700 });
  const usersFile = join(files.directory, 'users.xml');
  const configFile = join(files.directory, 'config.xml');
  writeFileSync(usersFile, usersXml(files), { mode: 0o600 });
  writeFileSync(configFile, configXml(files, usersFile), { mode: 0o600 });
  return configFile;
}

const MEBIBYTE = 1024 * 1024;

function usersXml({ database, users, limits, readerDatabases, cluster }: EngineFiles): string {
  const serverBytes = limits.maxMemoryMegabytes * MEBIBYTE;
  const profile = (name: string, settings: Record<string, string | number>) =>
    `<${name}>${elements(settings)}</${name}>`;
  const user = ({ user: name, password }: EngineUser, grants: readonly string[]) =>
    `<${name}><password_sha256_hex>${sha256(password)}</password_sha256_hex>${LOOPBACK}` +
    `<profile>${name}</profile><quota>default</quota>${grantsXml(grants)}</${name}>`;
  return `<clickhouse>
<profiles>
${profile('default', { http_send_timeout: RESULT_READ_MAX_SECONDS, http_max_field_value_size: PARAMETER_MAX_BYTES })}
${profile('boot', { max_memory_usage: 100_000_000, max_threads: 1 })}
${profile('writer', { max_memory_usage: Math.floor(serverBytes * 0.6) })}
${profile('reader', {
  readonly: 2,
  max_memory_usage: Math.floor(serverBytes * 0.5),
  cancel_http_readonly_queries_on_client_close: 1,
})}
${guestProfile(serverBytes, cluster !== null)}
</profiles>
<quotas><default/></quotas>
<users>
<default><password></password>${LOOPBACK}<profile>boot</profile><quota>default</quota>${grantsXml(['GRANT SYSTEM LISTEN ON *.*'])}</default>
${user(users.writer, [])}
${user(users.reader, readerGrants(readerDatabases))}
${user(users.guest, guestGrants(database, cluster !== null))}
${cluster === null ? '' : clusterUserXml({ database, readerDatabases }, cluster.user)}
</users>
</clickhouse>
`;
}

/** Pins the guest's settings, except the few that it may lower for a query. */
function guestProfile(serverBytes: number, isNode: boolean): string {
  const memoryBytes = guestMemoryBytes(serverBytes, availableParallelism());
  const bounds = Object.entries(guestChangeable(memoryBytes, isNode)).map(
    ([name, range]) => `<${name}><changeable_in_readonly/>${elements(range ?? {})}</${name}>`,
  );
  const settings = { ...guestSettings(memoryBytes), ...(isNode ? CLUSTER_SETTINGS : {}) };
  return `<guest>${elements(settings)}<constraints>${bounds.join('')}</constraints></guest>`;
}

/** Rights of the other nodes here, on behalf of the user who queried them: read and write our tables, and of the system tables only those that show running work. */
function clusterUserXml(
  { database, readerDatabases }: Pick<EngineFiles, 'database' | 'readerDatabases'>,
  { user, password }: EngineUser,
): string {
  const local = localDatabaseOf(database);
  const databases = [...new Set([...readerDatabases, local, publicDatabaseOf(local)])];
  const grants = [
    ...databases.map((name) => `GRANT SELECT, INSERT ON ${name}.*`),
    ...['processes', 'parts'].map((table) => `GRANT SELECT ON system.${table}`),
  ];
  return (
    `<${user}><password_sha256_hex>${sha256(password)}</password_sha256_hex>${LOOPBACK}` +
    `<profile>writer</profile><quota>default</quota>${grantsXml(grants)}</${user}>`
  );
}

/** Our tables, and the system tables that telemetry and tests read. */
function readerGrants(databases: readonly string[]): string[] {
  const system = ['parts', 'tables', 'columns', 'databases', 'processes', 'merges', 'disks', 'metrics'];
  return [
    ...databases.map((database) => `GRANT SELECT ON ${database}.*`),
    ...system.map((table) => `GRANT SELECT ON system.${table}`),
    // What `format()` needs, by which a caller's file is read (sandbox/run/read-upload.ts).
    'GRANT CREATE TEMPORARY TABLE ON *.*',
  ];
}

const HOST = '127.0.0.1';

function remoteServersXml({
  name,
  shards: ports,
  user: { user, password },
  asWhoeverAsked,
}: ClusterFiles): string {
  const own = asWhoeverAsked ? {} : { user, password };
  const replica = (port: number): string => `<replica>${elements({ host: HOST, port, ...own })}</replica>`;
  const shards = ports.map(
    (replicas) =>
      `<shard><internal_replication>true</internal_replication>${replicas.map(replica).join('')}</shard>`,
  );
  const secret = asWhoeverAsked ? elements({ secret: password }) : '';
  return `<remote_servers replace="true"><${name}>${secret}${shards.join('')}</${name}></remote_servers>`;
}

const LOOPBACK = '<networks><ip>127.0.0.1</ip><ip>::1</ip></networks>';

/**
 * Each insert is on disk before it is acknowledged. At the tip a table gets a part a second; by default the engine merges any two to five of
 * them with all that a small table holds.
 */
const MERGE_TREE = {
  fsync_after_insert: 1,
  fsync_part_directory: 1,
  min_parts_to_merge_at_once: 10,
  // Else, of ten small parts beside a large one, nine are left out of the merge: each insert then rewrites the large one.
  merge_selector_enable_heuristic_to_remove_small_parts_at_right: 0,
  // Else each merge computes a sketch of the different values of every column, a fifth of its time; no plan here depends on them.
  auto_statistics_types: '',
} as const;

/** Of the disk that is free at the start: rows and merges need the rest. All queries share it. */
const TEMPORARY_DISK_SHARE = 1 / 4;

function temporaryMaxBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory);
  return Math.floor(bavail * bsize * TEMPORARY_DISK_SHARE);
}

/** Small caches for a machine with two cores and four gigabytes; the defaults assume a dedicated server. */
function configXml(
  { directory, limits, queryPath, queryLog, cluster, backupsDir }: EngineFiles,
  usersFile: string,
): string {
  return `<clickhouse>
<users_config>${escapeXml(usersFile)}</users_config>
${elements({
  max_server_memory_usage: limits.maxMemoryMegabytes * MEBIBYTE,
  max_temporary_data_on_disk_size: temporaryMaxBytes(directory),
  max_concurrent_queries: 100,
  mark_cache_size: 256 * MEBIBYTE,
  index_mark_cache_size: 64 * MEBIBYTE,
  uncompressed_cache_size: 0,
  index_uncompressed_cache_size: 0,
  compiled_expression_cache_size: 32 * MEBIBYTE,
  query_condition_cache_size: 32 * MEBIBYTE,
  keep_alive_timeout: 30,
})}${queryLog ? '<query_log><database>system</database><table>query_log</table></query_log>' : ''}
<logger><level>none</level></logger>
${cluster === null ? '' : remoteServersXml(cluster)}
<storage_configuration><disks><backups><type>local</type><path>${escapeXml(backupsDir)}/</path></backups></disks></storage_configuration>
<backups>${elements({ allowed_disk: 'backups' })}</backups>
<merge_tree>${elements(MERGE_TREE)}</merge_tree>
<access_control_improvements>${elements({
    select_from_system_db_requires_grant: 'true',
    select_from_information_schema_requires_grant: 'true',
    // Without it the engine refuses a profile in which anything is changeable_in_readonly.
    settings_constraints_replace_previous: 'true',
  })}</access_control_improvements>
<http_handlers>
<rule><url>/ping</url><handler><type>ping</type></handler></rule>
<rule><url>${queryPath}</url><handler><type>dynamic_query_handler</type><query_param_name>query</query_param_name></handler></rule>
</http_handlers>
</clickhouse>
`;
}

function grantsXml(grants: readonly string[]): string {
  if (grants.length === 0) return '';
  return `<grants>${grants.map((grant) => `<query>${grant}</query>`).join('')}</grants>`;
}

function elements(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => `<${name}>${value}</${name}>`)
    .join('');
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
