import { readFileSync } from 'node:fs';
import closeWithGrace from 'close-with-grace';
import { Command } from 'commander';
import { EngineUnavailable } from '../clickhouse/embedded/library.ts';
import { migrate } from '../clickhouse/migrate.ts';
import {
  IMPORT_HELP,
  IMPORT_OPTIONS,
  type ImportArguments,
  importFiles,
} from '../ingest/import/import-command.ts';
import { ImportProblem } from '../ingest/import/import-problem.ts';
import { type RegradeArguments, regrade } from '../ingest/regrade/regrade-command.ts';
import { RegradeProblem } from '../ingest/regrade/regrade-problem.ts';
import { addAdminCommands } from './admin/admin-command.ts';
import { AdminProblem } from './admin/admin-problem.ts';
import { attachOrStartEngine } from './attach-engine.ts';
import type { Config } from './config/config.ts';
import { loadConfig } from './config/load.ts';
import { ConfigProblem } from './config/problem.ts';
import { createLog, type Log } from './log.ts';
import { addBridgeCommand } from './mcp-bridge/bridge-command.ts';
import { BridgeProblem } from './mcp-bridge/bridge-problem.ts';
import { startService } from './service.ts';

/** Exit codes: 1 the service failed, 2 the user must correct something. */
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const STOP_TIMEOUT_MS = 15_000;

interface Options {
  readonly config?: string;
}

async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('settlement-index')
    .description('Indexes x402 settlements from EVM chains into ClickHouse and serves them.')
    .version(programVersion())
    .option(
      '-c, --config <file>',
      'configuration file (default: settlement-index.config.json when it exists)',
    )
    .showHelpAfterError('(run with --help for the options)')
    .showSuggestionAfterError()
    // Before the commands are added, which take it over.
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : EXIT_USAGE))
    .addHelpText(
      'after',
      '\nEvery configuration key and environment variable: docs/reference/configuration.md',
    );
  program
    .command('start', { isDefault: true })
    .description('run the service (default)')
    .action(() => start(program.opts<Options>()));
  program
    .command('migrate')
    .description('bring the tables of the engine up to date, then end')
    .action(() => runMigrations(program.opts<Options>()));
  program
    .command('regrade')
    .description('make the rows follow the catalogue of the configuration, then end')
    .option('--dry-run', 'tell what would change and write nothing')
    .option('--json', 'print one JSON object instead of lines')
    .action((given: RegradeArguments) => runRegrade(program.opts<Options>(), given));
  const importing = program
    .command('import')
    .description('index blocks from Parquet exports of their logs and transactions, then end')
    .addHelpText('after', IMPORT_HELP)
    .action((given: ImportArguments) => runImport(program.opts<Options>(), given));
  for (const option of IMPORT_OPTIONS) importing.addOption(option);
  addAdminCommands(program, () => load(program.opts<Options>()).config);
  addBridgeCommand(program);
  await program.parseAsync(argv);
}

async function start(options: Options): Promise<void> {
  const { config, log } = load(options);
  const service = await startService({ config, log, version: programVersion() });
  if (service.url)
    log.info({ url: `${service.url}/v0/flows`, openapi: `${service.url}/openapi.json` }, 'serving');
  closeWithGrace({ delay: STOP_TIMEOUT_MS, logger: false }, async ({ err, signal }) => {
    if (err) log.fatal({ err }, 'unexpected error');
    else log.info({ signal }, 'stopping');
    await service.stop();
  });
  await service.prepared;
}

async function runMigrations(options: Options): Promise<void> {
  const { config, log } = load(options);
  const engine = await attachOrStartEngine(config, log);
  try {
    const { applied, already } = await migrate(engine.access, log);
    process.stdout.write(
      `${applied.length} migrations applied${applied.length > 0 ? ` (${applied.join(', ')})` : ''}, ${already.length} were there already\n`,
    );
  } finally {
    await engine.stop();
  }
}

async function runImport(options: Options, given: ImportArguments): Promise<void> {
  const { config, log } = load(options);
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
  const engine = await attachOrStartEngine(config, log);
  try {
    await importFiles(
      {
        config,
        access: engine.access,
        log,
        signal: stopping.signal,
        isTerminal: process.stdout.isTTY === true,
        say: (line) => process.stdout.write(`${line}\n`),
      },
      given,
    );
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
    process.stderr.write('interrupted; the same command goes on where it was\n');
    process.exitCode = EXIT_FAILED;
  } finally {
    await engine.stop();
  }
}

async function runRegrade(options: Options, given: RegradeArguments): Promise<void> {
  const { config, log } = load(options);
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
  const engine = await attachOrStartEngine(config, log);
  try {
    await regrade(
      {
        config,
        access: engine.access,
        log,
        signal: stopping.signal,
        say: (line) => process.stdout.write(`${line}\n`),
      },
      given,
    );
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
    process.stderr.write(
      'interrupted; the same command, or the next start of the service, goes on where it was\n',
    );
    process.exitCode = EXIT_FAILED;
  } finally {
    await engine.stop();
  }
}

function load(options: Options): { config: Config; log: Log } {
  const config = loadConfig(options.config === undefined ? {} : { file: options.config });
  return { config, log: createLog(config.logLevel, 'settlement-index') };
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
  const usage = [
    AdminProblem,
    BridgeProblem,
    ConfigProblem,
    EngineUnavailable,
    ImportProblem,
    RegradeProblem,
  ].some((kind) => error instanceof kind);
  const told = error instanceof Error && !usage ? error.stack : error;
  process.stderr.write(`${error instanceof Error && usage ? error.message : String(told)}\n`);
  process.exit(usage ? EXIT_USAGE : EXIT_FAILED);
}
