import { Command, Option } from 'commander';
import { nearest } from '../../core/command-text.ts';
import type { Config } from '../../core/config/config.ts';
import type { RegradeArguments } from '../../ingest/grading/regrade/command.ts';
import { IMPORT_HELP, IMPORT_OPTIONS, type ImportArguments } from '../../ingest/import/options.ts';
import { KEPT_OPTION } from '../keep-running.ts';
import { addAdminCommands } from './admin/command.ts';
import type { BackupArguments } from './backup/backup.ts';
import { addBackupCommands } from './backup/command.ts';
import type { RestoreArguments } from './backup/restore.ts';
import { addBundleCommands, type BundleArguments, type VerifyArguments } from './bundles/command.ts';
import { addDoctorCommand } from './doctor/command.ts';
import { addFacilitatorCommands, type FacilitatorOrder } from './facilitators/command.ts';

/** What every command takes. */
export interface Options {
  readonly config?: string;
  /** False with `--no-portal`. */
  readonly portal?: boolean;
  /** Whether this is the child of `keepRunning`, which sets it. */
  readonly kept?: true;
}

/** What the commands do, apart from how they are written on the command line. */
export interface Actions {
  start(options: Options): Promise<void>;
  migrate(options: Options): Promise<void>;
  regrade(options: Options, given: RegradeArguments): Promise<void>;
  importFiles(options: Options, given: ImportArguments): Promise<void>;
  backUp(options: Options, directory: string, given: BackupArguments): Promise<void>;
  restore(options: Options, directory: string, given: RestoreArguments): Promise<void>;
  bundle(options: Options, given: BundleArguments): Promise<void>;
  verify(path: string, given: VerifyArguments): Promise<void>;
  facilitators(options: Options, order: FacilitatorOrder): Promise<void>;
  /** For the commands of `admin`. */
  loadConfig(options: Options): Config;
  /** Help was shown (0), or the command line is wrong. */
  exit(exitCode: number): never;
}

function refuseWord(program: Command, word: string): never {
  if (program.args[0] === 'start') return program.error(`error: start takes no argument, and got '${word}'`);
  const meant = nearest(
    word,
    program.commands.map((command) => command.name()),
  );
  return program.error(
    `error: there is no command '${word}'${meant === undefined ? '' : `; did you mean ${meant}?`}`,
  );
}

/** The commands and options of the program. */
export function commandLine(actions: Actions, version: string): Command {
  const program = new Command('settlement-index')
    .description('Indexes x402 settlements from EVM chains into ClickHouse and serves them.')
    .version(version)
    .option(
      '-c, --config <file>',
      'configuration file (default: settlement-index.config.json when it exists)',
    )
    .option('--no-portal', 'read every block over JSON-RPC, and none from the SQD Portal')
    .addOption(new Option(KEPT_OPTION).hideHelp())
    .showHelpAfterError('(run with --help for the options)')
    .showSuggestionAfterError()
    // Before the commands are added, which take it over.
    .exitOverride(({ exitCode }) => actions.exit(exitCode))
    .addHelpText(
      'after',
      '\nEvery configuration key and environment variable: docs/reference/configuration.md',
    );
  const options = (): Options => program.opts<Options>();
  program
    .command('start', { isDefault: true })
    .description('run the service (default)')
    // Commander takes any word that is no command as an argument of the default one.
    .allowExcessArguments()
    .action((_given: object, { args: [word] }: Command) =>
      word === undefined ? actions.start(options()) : refuseWord(program, word),
    );
  program
    .command('migrate')
    .description('bring the tables of the engine up to date, then end')
    .action(() => actions.migrate(options()));
  program
    .command('regrade')
    .description('make the rows follow the catalogue of the configuration, then end')
    .option('--dry-run', 'print what would change and write nothing')
    .option('--json', 'print one JSON object instead of lines')
    .action((given: RegradeArguments) => actions.regrade(options(), given));
  const importing = program
    .command('import')
    .description(
      'index blocks from Parquet exports of logs and transactions, or from blocks of Solana, then end',
    )
    .addHelpText('after', IMPORT_HELP)
    .action((given: ImportArguments) => actions.importFiles(options(), given));
  for (const option of IMPORT_OPTIONS) importing.addOption(option);
  addBackupCommands(program, {
    backUp: (directory, given) => actions.backUp(options(), directory, given),
    restore: (directory, given) => actions.restore(options(), directory, given),
  });
  addBundleCommands(program, {
    bundle: (given) => actions.bundle(options(), given),
    verify: (path, given) => actions.verify(path, given),
  });
  addFacilitatorCommands(program, (order) => actions.facilitators(options(), order));
  addAdminCommands(program, () => actions.loadConfig(options()));
  addDoctorCommand(program, () => actions.loadConfig(options()));
  return program;
}
