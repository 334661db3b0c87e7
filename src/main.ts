#!/usr/bin/env node

import { readFileSync } from 'node:fs';
import closeWithGrace from 'close-with-grace';
import { EngineUnavailable } from '../clickhouse/embedded/library.ts';
import type { Config } from '../core/config/config.ts';
import { loadConfig, unusedRpcUrls } from '../core/config/load.ts';
import { createLog, type Log } from '../core/log.ts';
import { createRequestMarks } from '../core/process/request-marks.ts';
import { stoppedBySignal } from '../core/process/run-together.ts';
import { API_LOOP_LIMIT_MS, WORKER_LOOP_LIMIT_MS, watchLoop } from '../core/process/watch-loop.ts';
import { MissingPackage, UserError } from '../core/user-error.ts';
import type { RegradeArguments } from '../ingest/grading/regrade/command.ts';
import type { ImportArguments } from '../ingest/import/options.ts';
import type { attachOrStartEngine } from './attach-engine.ts';
import { endWithSupervisor, keepRunning, needsSupervisor } from './keep-running.ts';
import type { BackupArguments, BackupDeps } from './operate/backup/backup.ts';
import type { RestoreArguments } from './operate/backup/restore.ts';
import type { BundleArguments, VerifyArguments } from './operate/bundles/command.ts';
import { type Actions, commandLine, type Options } from './operate/command-line.ts';
import type { FacilitatorOrder } from './operate/facilitators/command.ts';
import { whatToOpen, whereBlocksComeFrom, whereHistoryBegins } from './what-to-open.ts';

/**
 * Each command imports its code when it runs: the service and its libraries take a second or two to load, which `admin` and `--help`
 * do not need.
 */

/** Exit codes: 1 the service failed, 2 the user must correct something. */
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const STOP_TIMEOUT_MS = 15_000;
const LOG_NAME = 'settlement-index';

async function main(argv: readonly string[]): Promise<void> {
  const actions: Actions = {
    start,
    migrate: runMigrations,
    regrade: runRegrade,
    importFiles: runImport,
    backUp: runBackup,
    restore: runRestore,
    bundle: runBundle,
    verify: runVerify,
    facilitators: runFacilitators,
    loadConfig: (options) => load(options).config,
    exit: (exitCode) => process.exit(exitCode === 0 ? 0 : EXIT_USAGE),
  };
  await commandLine(actions, programVersion()).parseAsync(argv);
}

async function start(options: Options): Promise<void> {
  if (options.kept) endWithSupervisor();
  else await superviseWhereNeeded(options);
  const { config, log } = load(options);
  const { startService } = await import('./service.ts');
  const marks = createRequestMarks();
  const service = await startService({ config, log, version: programVersion(), marks });
  watchLoop({
    ...{ name: LOG_NAME, log, dataDir: config.dataDir },
    limitMs: service.url === null ? WORKER_LOOP_LIMIT_MS : API_LOOP_LIMIT_MS,
    marks: marks.memory,
  });
  if (service.url)
    log.info({ url: `${service.url}/v0/flows`, openapi: `${service.url}/openapi.json` }, 'serving');
  closeWithGrace({ delay: STOP_TIMEOUT_MS, logger: false }, async ({ err, signal }) => {
    if (err) log.fatal({ err }, 'unexpected error');
    else log.info({ signal }, 'stopping');
    await service.stop();
  });
  await service.prepared;
  if (service.url !== null)
    process.stdout.write(
      `${whatToOpen(service.url)}${whereBlocksComeFrom(config.chains)}${whereHistoryBegins(config.chains)}`,
    );
}

/** Where the service has no other supervisor, this process becomes it, and does not return. */
async function superviseWhereNeeded(options: Options): Promise<void> {
  const config = configOf(options);
  if (!needsSupervisor(config)) return;
  process.exit(await keepRunning(new URL(import.meta.url), createLog(config.logLevel, 'supervisor')));
}

async function runMigrations(options: Options): Promise<void> {
  const { config, log } = load(options);
  const { migrate } = await import('../clickhouse/migrate/migrate.ts');
  const { publicFacts } = await import('../clickhouse/guest/views/facts.ts');
  const engine = await engineOf(config, log);
  try {
    const { applied, already } = await migrate(engine.access, log, { facts: publicFacts(config) });
    process.stdout.write(
      `${applied.length} migrations applied${applied.length > 0 ? ` (${applied.join(', ')})` : ''}, ${already.length} were there already\n`,
    );
  } finally {
    await engine.stop();
  }
}

async function runImport(options: Options, given: ImportArguments): Promise<void> {
  const { config, log } = load(options);
  const stopping = stoppedBySignal();
  const { importFiles } = await import('../ingest/import/command.ts');
  let engine: Awaited<ReturnType<typeof engineOf>> | undefined;
  try {
    await importFiles(
      {
        config,
        openEngine: async () => {
          engine = await engineOf(config, log);
          return engine.access;
        },
        log,
        signal: stopping,
        isTerminal: process.stdout.isTTY === true,
        say: (line) => process.stdout.write(`${line}\n`),
      },
      given,
    );
  } catch (error) {
    if (!stopping.aborted) throw error;
    process.stderr.write('interrupted; the same command goes on where it was\n');
    process.exitCode = EXIT_FAILED;
  } finally {
    await engine?.stop();
  }
}

async function runRegrade(options: Options, given: RegradeArguments): Promise<void> {
  const { config, log } = load(options);
  const stopping = stoppedBySignal();
  const { regrade } = await import('../ingest/grading/regrade/command.ts');
  const engine = await engineOf(config, log);
  try {
    await regrade(
      {
        config,
        access: engine.access,
        log,
        signal: stopping,
        say: (line) => process.stdout.write(`${line}\n`),
      },
      given,
    );
  } catch (error) {
    if (!stopping.aborted) throw error;
    process.stderr.write(
      'interrupted; the same command, or the next start of the service, goes on where it was\n',
    );
    process.exitCode = EXIT_FAILED;
  } finally {
    await engine.stop();
  }
}

async function runBackup(options: Options, directory: string, given: BackupArguments): Promise<void> {
  const { backUp } = await import('./operate/backup/backup.ts');
  await withBackupDeps(options, 'backup', async (deps) => {
    await backUp(deps, directory, given);
  });
}

async function runRestore(options: Options, directory: string, given: RestoreArguments): Promise<void> {
  const { restore } = await import('./operate/backup/restore.ts');
  await withBackupDeps(options, 'restore', (deps) => restore(deps, directory, given));
}

async function withBackupDeps(
  options: Options,
  name: string,
  work: (deps: BackupDeps) => Promise<void>,
): Promise<void> {
  const { config, log } = load(options);
  const stopping = stoppedBySignal();
  try {
    await work({
      config,
      log,
      program: programVersion(),
      signal: stopping,
      isTerminal: process.stdout.isTTY === true,
      say: (line) => process.stdout.write(`${line}\n`),
    });
  } catch (error) {
    if (!stopping.aborted) throw error;
    process.stderr.write(`interrupted; what this ${name} wrote is not whole: remove it and begin again\n`);
    process.exitCode = EXIT_FAILED;
  }
}

async function runBundle(options: Options, given: BundleArguments): Promise<void> {
  const { config, log } = load(options);
  const stopping = stoppedBySignal();
  const { runBundle: bundle } = await import('./operate/bundles/run.ts');
  const { migrate } = await import('../clickhouse/migrate/migrate.ts');
  const { publicFacts } = await import('../clickhouse/guest/views/facts.ts');
  let engine: Awaited<ReturnType<typeof engineOf>> | undefined;
  const access = async () => {
    engine = await engineOf(config, log);
    await migrate(engine.access, log, { facts: publicFacts(config) });
    return engine.access;
  };
  try {
    await bundle({ ...printing(stopping), config, access }, given);
  } catch (error) {
    if (!stopping.aborted) throw error;
    process.stderr.write('interrupted; the same command goes on where it was\n');
    process.exitCode = EXIT_FAILED;
  } finally {
    await engine?.stop();
  }
}

async function runVerify(path: string, given: VerifyArguments): Promise<void> {
  const { runVerify: verify } = await import('./operate/bundles/run.ts');
  const isGood = await verify(printing(stoppedBySignal()), path, given);
  if (!isGood) process.exitCode = EXIT_FAILED;
}

async function runFacilitators(options: Options, order: FacilitatorOrder): Promise<void> {
  const { config, log } = load(options);
  const { facilitators } = await import('./operate/facilitators/run.ts');
  const engine = await engineOf(config, log);
  try {
    await facilitators({ config, log, access: engine.access, say: printing(stoppedBySignal()).say }, order);
  } finally {
    await engine.stop();
  }
}

function printing(signal: AbortSignal) {
  return {
    signal,
    isTerminal: process.stdout.isTTY === true,
    say: (line: string) => void process.stdout.write(`${line}\n`),
  };
}

async function engineOf(config: Config, log: Log): ReturnType<typeof attachOrStartEngine> {
  const attach = await import('./attach-engine.ts');
  return attach.attachOrStartEngine(config, log);
}

function configOf({ config, portal }: Options): Config {
  const loaded = loadConfig(config === undefined ? {} : { file: config });
  if (portal !== false) return loaded;
  return { ...loaded, chains: loaded.chains.map((chain) => ({ ...chain, portal: null })) };
}

function load(options: Options): { config: Config; log: Log } {
  const config = configOf(options);
  const log = createLog(config.logLevel, LOG_NAME);
  for (const warning of unusedRpcUrls(config)) log.warn(warning);
  return { config, log };
}

/** The version of package.json, two directories up from dist/src and one from src. */
function programVersion(): string {
  for (const up of ['../package.json', '../../package.json']) {
    try {
      const { version } = JSON.parse(readFileSync(new URL(up, import.meta.url), 'utf8')) as {
        version: string;
      }; // our own file
      return version;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    }
  }
  return 'unknown';
}

try {
  await main(process.argv);
} catch (error) {
  const usage = [UserError, EngineUnavailable, MissingPackage].some((kind) => error instanceof kind);
  const told = error instanceof Error && !usage ? error.stack : error;
  process.stderr.write(`${error instanceof Error && usage ? error.message : String(told)}\n`);
  process.exit(usage ? EXIT_USAGE : EXIT_FAILED);
}
