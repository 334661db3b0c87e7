import { Command } from 'commander';
import { UserError } from '../../core/user-error.ts';
import { addBridgeCommand } from './bridge-command.ts';

/** The user must correct something; the same code as of the other commands. */
const EXIT_USAGE = 2;

try {
  const program = new Command('settlement-index')
    .showHelpAfterError('(run with --help for the options)')
    // Before the command is added, which takes it over.
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : EXIT_USAGE));
  addBridgeCommand(program);
  await program.parseAsync(process.argv);
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = EXIT_USAGE;
}
