import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { takeAll } from '../../../clickhouse/embedded/directory.ts';
import type { Config } from '../../../core/config/config.ts';
import type { Log } from '../../../core/log.ts';
import { UserError } from '../../../core/user-error.ts';

import { attachOrStartEngine, engineHome } from '../../attach-engine.ts';
import { backUpAccounts, backUpSecrets } from './accounts.ts';
import { backUpEngine } from './engine.ts';
import { type Chain, engineDirectory, linkBackups, readChain, stageBackup } from './engine-files.ts';
import { withWriters } from './engine-statements.ts';
import {
  digestFiles,
  type EngineManifest,
  MANIFEST_FORMAT,
  type Manifest,
  writeManifest,
} from './manifest.ts';
import { tellBytes } from './progress.ts';

/** The options of the command line, as commander gives them. */
export interface BackupArguments {
  readonly base?: string;
  readonly disk?: string;
  readonly only?: 'accounts' | 'index';
  readonly secrets?: boolean;
}

export interface BackupDeps {
  readonly config: Config;
  readonly log: Log;
  readonly program: string;
  readonly signal: AbortSignal;
  /** Whether the output is a terminal: progress is then printed more often. */
  readonly isTerminal: boolean;
  say(line: string): void;
}

/** The disk that the embedded engine's configuration names (clickhouse/embedded/users.ts). */
const DEFAULT_DISK = 'backups';
const ID_BYTES = 4;

/**
 * `settlement-index backup <directory>`: the index, the accounts and the secrets, of a service that runs or not. Throws
 * `UserError` for what the operator must correct. A directory without a manifest is what an interrupted backup leaves.
 */
export async function backUp(deps: BackupDeps, target: string, given: BackupArguments): Promise<Manifest> {
  const { config, program, say } = deps;
  const directory = resolve(target);
  const base = given.base === undefined ? null : readChain(given.base);
  makeEmptyDirectory(directory);
  const id = newId();
  const wants = (part: 'accounts' | 'index'): boolean => given.only === undefined || given.only === part;
  // Accounts first: they are small, and exist nowhere else.
  const accounts = wants('accounts') ? await backUpAccounts(config, directory) : null;
  if (wants('accounts')) say(accounts === null ? 'there are no accounts yet' : spellAccounts(accounts));
  const secrets = given.secrets === false || !wants('accounts') ? [] : backUpSecrets(config, directory);
  const engine = wants('index') ? await backUpIndex(deps, { id, directory, base, disk: given.disk }) : null;
  const told = tellBytes('checking what was written', 0, deps);
  const files = await digestFiles(directory, told.add);
  const madeAt = new Date().toISOString();
  const manifest = { format: MANIFEST_FORMAT, id, program, madeAt, engine, accounts, secrets, files };
  writeManifest(directory, manifest);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  say(`backup ${id} is in ${directory}: ${files.length} files, ${bytes} bytes`);
  return manifest;
}

function spellAccounts({
  kind,
  organizations,
  ledgerRows,
  payments,
}: NonNullable<Manifest['accounts']>): string {
  return `accounts (${kind}): ${organizations} organizations, ${ledgerRows} rows of ledgers, ${payments} payments`;
}

async function backUpIndex(
  deps: BackupDeps,
  order: {
    readonly id: string;
    readonly directory: string;
    readonly base: Chain | null;
    readonly disk: string | undefined;
  },
): Promise<EngineManifest> {
  const { config, log } = deps;
  const { id, directory, base, disk = DEFAULT_DISK } = order;
  const isLocal = config.clickhouse.url === null;
  const [baseBackup = null] = base ?? [];
  const shards = config.clickhouse.cluster === null ? undefined : config.clickhouse.shards.length;
  refuseUnfitBase(baseBackup?.manifest ?? null, { isLocal, disk, shards });
  const into = engineDirectory(directory);
  if (isLocal) mkdirSync(into, { mode: 0o700 });
  const bases = (base ?? []).map((each) => ({
    id: each.manifest.id,
    directory: engineDirectory(each.directory),
  }));
  const engine = await attachOrStartEngine(config, log, {
    read: bases.map((each) => each.directory),
    changed: [into],
  });
  let way = ON_A_SERVER;
  try {
    if (isLocal) way = wayTo(into, { id, bases, home: engineHome(config), isOwn: engine.isOwn });
    const made = await withWriters(engine.access, { log }, (holders) =>
      backUpEngine(holders, {
        ...deps,
        id,
        place: isLocal ? 'here' : 'server',
        disk,
        database: config.clickhouse.database,
        directories: way.directories,
        onPart: way.move,
        base:
          baseBackup === null
            ? null
            : { manifest: baseBackup.manifest, directory: relative(directory, baseBackup.directory) },
      }),
    );
    return shards === undefined ? made : { ...made, shards };
  } finally {
    way.clear();
    await engine.stop();
    if (isLocal) takeAll(into);
  }
}

/** How what the engine writes gets to the directory of the backup. */
interface Way {
  readonly directories: readonly string[];
  move(): void;
  clear(): void;
}

const ON_A_SERVER: Way = { directories: [], move: () => undefined, clear: () => undefined };

function wayTo(
  into: string,
  order: {
    readonly id: string;
    readonly bases: readonly { readonly id: string; readonly directory: string }[];
    readonly home: string;
    readonly isOwn: boolean;
  },
): Way {
  const { id, bases, home, isOwn } = order;
  if (isOwn) {
    const clear = linkBackups(home, [{ id, directory: into }, ...bases]);
    return { directories: [into], move: () => undefined, clear };
  }
  const { directory, move, clear } = stageBackup(home, { id, into, bases });
  return { directories: [into, directory], move, clear };
}

function refuseUnfitBase(
  base: Manifest | null,
  {
    isLocal,
    disk,
    shards,
  }: { readonly isLocal: boolean; readonly disk: string; readonly shards: number | undefined },
): void {
  if (base === null) return;
  const place = isLocal ? 'here' : 'server';
  if (base.engine === null) throw new UserError('the base holds no index to add to');
  if (base.engine.place !== place || base.engine.disk !== disk)
    throw new UserError('the base lies on another disk than this backup would: make a whole one');
  if (base.engine.shards !== shards)
    throw new UserError('the base is of another number of shards: make a whole backup');
}

function makeEmptyDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  if (readdirSync(directory).length > 0)
    throw new UserError(`${directory} is not empty: every backup has a directory of its own`);
}

/** Sorts by time, and is a fit name for a directory of the engine. */
function newId(): string {
  const time = new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-');
  return `${time}-${randomBytes(ID_BYTES).toString('hex')}`;
}
