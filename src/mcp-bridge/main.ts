import { Command } from 'commander';
import { addBridgeCommand } from './bridge-command.ts';
import { BridgeProblem } from './bridge-problem.ts';

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
  if (!(error instanceof BridgeProblem)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = EXIT_USAGE;
}
