import type { EngineAccess } from '../../../clickhouse/engine/engine.ts';
import { publicFacts } from '../../../clickhouse/guest/views/facts.ts';
import { migrate } from '../../../clickhouse/migrate/migrate.ts';
import type { Config } from '../../../core/config/config.ts';
import { UserError } from '../../../core/user-error.ts';

import { attachOrStartEngine, engineHome } from '../../attach-engine.ts';
import { refuseAccounts, refuseOtherKeys, restoreAccounts, restoreKeys } from './accounts.ts';
import type { BackupDeps } from './backup.ts';
import { refuseFilledDatabase, refuseForeignIndex, restoreEngine } from './engine.ts';
import { type Chain, engineDirectory, linkBackups, readChain } from './engine-files.ts';
import { checkFiles, type EngineManifest, type Manifest } from './manifest.ts';
import { tellBytes } from './progress.ts';

/** The options of the command line, as commander gives them. */
export interface RestoreArguments {
  readonly disk?: string;
  readonly only?: 'accounts' | 'index';
}

/**
 * `settlement-index restore <directory>`: checks the whole backup, then puts it where nothing is. Throws `UserError` before
 * anything was changed when the backup is damaged, is of another version, or the target is not empty.
 */
export async function restore(deps: BackupDeps, source: string, given: RestoreArguments): Promise<void> {
  const { config, say } = deps;
  const chain = readChain(source);
  const [newest] = chain;
  if (newest === undefined) throw new UserError('there is no backup');
  const { directory, manifest } = newest;
  const accounts = given.only === 'index' ? null : manifest.accounts;
  const engine = given.only === 'accounts' ? null : manifest.engine;
  const keys = given.only === 'index' ? [] : manifest.secrets;
  say(`backup ${manifest.id} of ${manifest.madeAt}, made by version ${manifest.program}`);
  await checkChain(deps, engine === null ? [newest] : chain);
  if (engine !== null) refuseOtherShards(config, engine);
  if (engine !== null) await refuseForeignIndex(engine, config.clickhouse.database);
  if (accounts !== null) await refuseAccounts(config, accounts);
  refuseOtherKeys(config, directory, keys);
  // The index first: it finds out by itself whether a service runs here, and then nothing has been changed.
  if (engine !== null) await restoreIndex(deps, chain, placedAs(engine, given.disk));
  restoreKeys(config, directory, keys);
  if (accounts !== null) {
    await restoreAccounts(config, directory, accounts.kind);
    say(`${accounts.organizations} organizations and ${accounts.ledgerRows} rows of their ledgers are back`);
  }
  say('done; compare the ledgers with `admin reconcile`, then start the service');
}

async function checkChain(deps: BackupDeps, chain: Chain): Promise<void> {
  const total = chain.flatMap(({ manifest }) => manifest.files).reduce((sum, { bytes }) => sum + bytes, 0);
  const told = tellBytes('checking the backup', total, deps);
  for (const { directory, manifest } of chain) await checkFiles(directory, manifest.files, told.add);
}

/** With a named disk, the operator has copied the backup's engine part there, under the id of the backup. */
function placedAs(engine: EngineManifest, disk: string | undefined): EngineManifest {
  return disk === undefined ? engine : { ...engine, place: 'server', disk };
}

async function restoreIndex(deps: BackupDeps, chain: Chain, engine: EngineManifest): Promise<void> {
  const { config, log } = deps;
  refuseOtherPlace(config, engine, chain[0]?.manifest);
  const links = engine.place === 'here' ? linksOf(chain) : [];
  const running = await attachOrStartEngine(config, log, {
    read: links.map(({ directory }) => directory),
    changed: [],
  });
  let unlink = (): void => undefined;
  try {
    await refuseFilledDatabase(running.access);
    if (links.length > 0) {
      if (!running.isOwn)
        throw new UserError('a service runs over this data directory: stop it, and restore then');
      unlink = linkBackups(engineHome(config), links);
    }
    await putBack(deps, running.access, chain, engine);
    await migrate(running.access, log, { facts: publicFacts(config) });
  } finally {
    unlink();
    await running.stop();
  }
}

function linksOf(chain: Chain): { readonly id: string; readonly directory: string }[] {
  return chain.map(({ directory, manifest }) => ({
    id: manifest.id,
    directory: engineDirectory(directory),
  }));
}

async function putBack(
  { say, signal }: BackupDeps,
  access: EngineAccess,
  chain: Chain,
  engine: EngineManifest,
): Promise<void> {
  const id = chain[0]?.manifest.id ?? '';
  const began = Date.now();
  let toldAt = began;
  await restoreEngine(access, engine, {
    id,
    attempt: `${id}-${began.toString(36)}`,
    signal,
    say,
    onPoll: () => {
      if (Date.now() - toldAt < TELL_EVERY_MS) return;
      toldAt = Date.now();
      say(`putting the index back for ${Math.round((toldAt - began) / 1_000)} s`);
    },
  });
}

const TELL_EVERY_MS = 10_000;

/** Where a row lies follows from the number of shards: parts of three cannot be put on two. */
function refuseOtherShards({ clickhouse }: Config, { shards }: EngineManifest): void {
  const here = clickhouse.cluster === null ? undefined : clickhouse.shards.length;
  if (here === shards) return;
  const spell = (count: number | undefined): string =>
    count === undefined ? 'one engine' : `a cluster of ${count} ${count === 1 ? 'shard' : 'shards'}`;
  throw new UserError(`the backup is of ${spell(shards)}, the configuration names ${spell(here)}`);
}

function refuseOtherPlace(config: Config, engine: EngineManifest, manifest: Manifest | undefined): void {
  const isLocal = config.clickhouse.url === null;
  if (isLocal && engine.place === 'server')
    throw new UserError('the index of this backup lies on a disk of a ClickHouse server: set CLICKHOUSE_URL');
  if (!isLocal && engine.place === 'here') {
    throw new UserError(
      `the index of this backup is of the embedded engine: copy its directory engine/ to the server's backup disk as ${manifest?.id} and name the disk with --disk`,
    );
  }
}
