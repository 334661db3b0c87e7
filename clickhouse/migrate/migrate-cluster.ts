import { PUBLIC_TABLE_NAMES } from '../../core/domain/public-tables.ts';
import type { Log } from '../../core/log.ts';
import { UserError } from '../../core/user-error.ts';
import { catalogueViewStatements } from '../catalogue/views.ts';
import { localDatabaseOf, publicDatabaseOf, viewedDatabaseOf } from '../engine/databases.ts';
import type { EngineAccess, EngineCluster, Writer } from '../engine/engine.ts';
import { createWriter } from '../engine/http-engine.ts';
import { sql, text, trustedText } from '../engine/sql.ts';
import {
  NODE_VIEWS,
  nodeViewStatements,
  overviewStatements,
  STORED_VIEWS,
  storedViewStatements,
} from '../guest/public-views.ts';
import type { PublicFacts } from '../guest/views/facts.ts';
import { PLACEMENTS } from '../tables/all-tables.ts';
import { ensureWalletIdKey, type WalletIdKey } from '../tables/wallet-ids.ts';
import {
  type Columns,
  crossingTarget,
  type Definitions,
  type DistributedTable,
  distributedStatement,
  droppedTable,
  localStatement,
  readDefinitions,
  replicaStatement,
  statementsOfAllNodes,
  viewOfAllNodes,
} from './cluster-ddl.ts';
import { applyMigrations, createDatabases, type Migrated, type Migration, runDdl } from './migrations.ts';

/**
 * Migrates the nodes: first their local tables with the numbered files, then the tables over all nodes. Each node records its own
 * migrations, so after a node was down the next run continues there, and nodes may be a version apart for a while: a table over all
 * nodes changes only after its local table.
 */
export type ClusterAccess = EngineAccess & { readonly cluster: EngineCluster };

const LOOK_MAX_SECONDS = 30;
const TABLES_MAX = 10_000;

/** The first shard, then the others in parallel; replicas in turn. A node that is down does not block others of the later shards. */
export async function migrateCluster(
  access: ClusterAccess,
  migrations: readonly Migration[],
  log: Log,
  facts: PublicFacts,
): Promise<Migrated> {
  const [replicas, ...others] = access.cluster.shards;
  if (replicas === undefined) throw new UserError('clickhouse.shards names no shard.');
  // Keeps the key of the wallet ids, which the views of all other nodes need.
  const first = await migrateShard(access, { replicas, index: 0, facts, idKey: null }, migrations, log);
  const shards = await Promise.allSettled(
    others.map((other, index) =>
      migrateShard(access, { replicas: other, index: index + 1, facts, idKey: first.idKey }, migrations, log),
    ),
  );
  const failed = shards.find((shard) => shard.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  const done = [
    ...first.migrated,
    ...shards.flatMap((shard) => (shard.status === 'fulfilled' ? shard.value.migrated : [])),
  ];
  const names = (of: (one: Migrated) => readonly string[]): string[] => [...new Set(done.flatMap(of))].sort();
  const applied = names((one) => one.applied);
  // The migrations that every node had before.
  return { applied, already: names((one) => one.already).filter((name) => !applied.includes(name)) };
}

/** The replica with the most migrations goes first, and the others take their schema from it (ddl.ts). */
async function migrateShard(
  access: ClusterAccess,
  {
    replicas,
    index,
    facts,
    idKey: given,
  }: {
    readonly replicas: readonly [string, ...string[]];
    readonly index: number;
    readonly facts: PublicFacts;
    readonly idKey: WalletIdKey | null;
  },
  migrations: readonly Migration[],
  log: Log,
): Promise<{ readonly migrated: readonly Migrated[]; readonly idKey: WalletIdKey | null }> {
  const shard = index + 1;
  const nodes = replicas.map((url) => ({ ...access, url }));
  const histories = nodes.length === 1 ? [0] : await Promise.all(nodes.map(migrationsOf));
  const ordered = nodes
    .map((node, at) => ({ node, known: histories[at] ?? 0 }))
    .sort((a, b) => b.known - a.known);
  const migrated: Migrated[] = [];
  let made: Definitions | null = null;
  let idKey = given;
  for (const { node } of ordered) {
    const done = await migrateNode(node, { shard, made, facts, idKey }, migrations, log);
    migrated.push(done.migrated);
    idKey = done.idKey;
    if (nodes.length > 1) made ??= await definitionsOf(node);
  }
  return { migrated, idKey };
}

/** How many migrations a node has recorded; 0 for an empty node. */
async function migrationsOf(node: ClusterAccess): Promise<number> {
  return onNode(node, 'system', async (writer) => {
    const history = await writer.rows({
      name: 'history-there',
      sql: sql`SELECT count() FROM system.tables WHERE database = ${text(localDatabaseOf(node.database))} AND name = 'schema_migrations'`,
      maxSeconds: LOOK_MAX_SECONDS,
      maxRows: 1,
    });
    if (Number(history.rows[0]?.[0]) === 0) return 0;
    const { rows } = await writer.rows({
      name: 'history-length',
      sql: sql`SELECT uniqExact(version) FROM ${trustedText(localDatabaseOf(node.database))}.schema_migrations`,
      maxSeconds: LOOK_MAX_SECONDS,
      maxRows: 1,
    });
    return Number(rows[0]?.[0]);
  });
}

function definitionsOf(node: ClusterAccess): Promise<Definitions> {
  const local = localDatabaseOf(node.database);
  return onNode(node, local, (writer) => readDefinitions(writer, local));
}

/** Access to a single engine, without the cluster's settings. */
function byItself({ cluster: _, ...node }: ClusterAccess): EngineAccess {
  return node;
}

async function onNode<Result>(
  node: ClusterAccess,
  database: string,
  work: (writer: Writer) => Promise<Result>,
  log?: Log,
): Promise<Result> {
  const writer = createWriter({ ...byItself(node), database }, log);
  try {
    return await work(writer);
  } finally {
    await writer.close();
  }
}

interface NodeWork {
  /** From 1. */
  readonly shard: number;
  /** The definitions of an up-to-date replica of the shard; null for the first one, which runs the files as they are. */
  readonly made: Definitions | null;
  readonly facts: PublicFacts;
  /** Null for the node that keeps it: the first one of the first shard. */
  readonly idKey: WalletIdKey | null;
}

async function migrateNode(
  node: ClusterAccess,
  { shard, made, facts, idKey: given }: NodeWork,
  migrations: readonly Migration[],
  log: Log,
): Promise<{ readonly migrated: Migrated; readonly idKey: WalletIdKey }> {
  const { database, cluster } = node;
  const databases = [database, localDatabaseOf(database)];
  await createDatabases(byItself(node), [
    ...databases,
    ...databases.map(publicDatabaseOf),
    viewedDatabaseOf(database),
  ]);
  const { isReplicated } = cluster;
  const names = { database, isReplicated };
  return onNode(
    node,
    localDatabaseOf(database),
    async (writer) => {
      await checkShard(writer, cluster, shard);
      const migrated = await applyMigrations(writer, migrations, log, async (name, statement) => {
        const target = crossingTarget(statement);
        // The view writes to the table over all nodes, which must exist first.
        if (target !== null) await makeTables(writer, cluster, [tableOf(database, target)]);
        const own =
          made === null ? localStatement(statement, names) : replicaStatement(statement, { names, made });
        if (own !== null) await runDdl(writer, name, trustedText(own));
        // The table over all nodes has no rows of its own, and nothing would say that the one behind it is gone.
        const dropped = droppedTable(statement);
        if (dropped !== null)
          await runDdl(writer, name, trustedText(`DROP TABLE IF EXISTS ${database}.${dropped}`));
      });
      await makeTables(
        writer,
        cluster,
        Object.keys(PLACEMENTS).map((name) => tableOf(database, name)),
      );
      const idKey = given ?? (await ensureWalletIdKey(writer));
      await makeViews(writer, node, { shard, facts, idKey });
      return { migrated, idKey };
    },
    log,
  );
}

function tableOf(database: string, name: string): DistributedTable {
  const placement = PLACEMENTS[name];
  if (placement === undefined) throw new UserError(`No placement says where ${name} is on a cluster.`);
  return { database, local: localDatabaseOf(database), name, key: placement.key };
}

/** A list of nodes in another order than the cluster's, or with a node twice, would lose or duplicate rows. */
async function checkShard(
  writer: Writer,
  { name, shards }: Pick<EngineCluster, 'name' | 'shards'>,
  shard: number,
): Promise<void> {
  const { rows } = await writer.rows({
    name: 'own-shard',
    sql: sql`SELECT groupUniqArrayIf(shard_num, is_local), uniqExact(shard_num) FROM system.clusters WHERE cluster = ${text(name)}`,
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: 1,
  });
  const [own, count] = rows[0] ?? [];
  const at = `Node of shard ${shard} in clickhouse.shards`;
  if (Number(count) === 0)
    throw new UserError(`${at}: it does not know the cluster ${name}; see its remote_servers.`);
  if (Number(count) !== shards.length)
    throw new UserError(
      `${at}: its cluster ${name} has ${count} shards, clickhouse.shards has ${shards.length}.`,
    );
  if (String(own) !== String(shard))
    throw new UserError(`${at}: in its cluster ${name} it is shard ${String(own) || 'none'}.`);
}

/** Creates the tables over all nodes that are missing or outdated. All are in one database. */
async function makeTables(
  writer: Writer,
  { name: cluster }: EngineCluster,
  tables: readonly DistributedTable[],
): Promise<void> {
  const [first] = tables;
  if (first === undefined) return;
  const columns = await readColumns(writer, first.local);
  const comments = await readComments(writer, first.database);
  for (const table of tables) {
    const { statement, comment } = distributedStatement(table, cluster, columns.get(table.name) ?? '');
    if (comments.get(table.name) === comment) continue;
    await runDdl(writer, `distributed-${table.name}`, trustedText(statement));
  }
}

/** By table. */
async function readColumns(writer: Writer, database: string): Promise<ReadonlyMap<string, Columns>> {
  const { rows } = await writer.rows({
    name: 'local-columns',
    sql: sql`SELECT table, toString(groupArray((name, type, default_kind, default_expression)))
      FROM (SELECT * FROM system.columns WHERE database = ${text(database)} ORDER BY table, position) GROUP BY table`,
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: TABLES_MAX,
  });
  return new Map(rows.map(([table, columns]) => [String(table), String(columns)]));
}

async function readComments(writer: Writer, database: string): Promise<ReadonlyMap<string, string>> {
  const { rows } = await writer.rows({
    name: 'distributed-comments',
    sql: sql`SELECT name, comment FROM system.tables WHERE database = ${text(database)}`,
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: TABLES_MAX,
  });
  return new Map(rows.map(([name, comment]) => [String(name), String(comment)]));
}

/**
 * The guest reads a table over all nodes in front of a view on each node, so that each node applies a condition with its indexes
 * instead of sending all rows first.
 */
async function makeViews(
  writer: Writer,
  { database, cluster }: ClusterAccess,
  { shard, facts, idKey }: Pick<NodeWork, 'shard' | 'facts'> & { readonly idKey: WalletIdKey },
): Promise<void> {
  const local = localDatabaseOf(database);
  const published = { database: publicDatabaseOf(database), local: publicDatabaseOf(local) };
  const declared = [
    ...nodeViewStatements(database, local),
    statementsOfAllNodes(database, cluster.name),
    ...storedViewStatements({
      into: published.local,
      rows: local,
      beside: database,
      facts,
      idKey,
      hasFacts: shard === 1,
    }),
    ...catalogueViewStatements(database),
  ];
  for (const view of declared) await runDdl(writer, 'declared-view', trustedText(view));
  await makeTables(writer, cluster, [{ database, local, name: NODE_VIEWS.parts, key: null }]);
  await makeTables(
    writer,
    cluster,
    STORED_VIEWS.map((name) => ({ ...published, name, key: null })),
  );
  for (const view of overviewStatements({ into: published.database, beside: database, idKey }))
    await runDdl(writer, 'declared-view', trustedText(view));
  for (const name of PUBLIC_TABLE_NAMES)
    await runDdl(writer, 'view-of-all-nodes', trustedText(viewOfAllNodes(database, name)));
}
