import { mkdirSync } from 'node:fs';
import type { Command } from 'commander';
import { systemClock } from '../../../core/clock.ts';
import type { Config } from '../../../core/config/config.ts';
import { createLog } from '../../../core/log.ts';
import { OtherVersion, StoreUnavailable } from '../../accounts/store.ts';
import type { AdminDeps, CommandOutput } from './command-output.ts';
import { addKeyCommands } from './key.ts';
import { addOrganizationCommands } from './organization.ts';
import { addReconcileCommand } from './reconcile.ts';
import { addRotateCommands } from './secrets.ts';
import { addUnitCommands } from './units.ts';

const EXIT_FAILED = 1;

const HELP = `
Works while the service runs, on its Redis or, on its machine, its SQLite file: give the same --config and environment.
Exit codes: 0 done, 1 failed or (reconcile) something differs, 2 the command must be corrected.`;

/** `admin …`: what operators do with accounts. `load` reads the configuration that the command line names. */
export function addAdminCommands(program: Command, load: () => Config): void {
  const admin = program
    .command('admin')
    .description('organizations, keys, units')
    .option('--json', 'print one JSON object instead of lines')
    .addHelpText('after', HELP);
  const run = (work: (deps: AdminDeps) => Promise<CommandOutput>): Promise<void> =>
    runAdmin(load(), admin.opts<{ readonly json?: boolean }>().json === true, work);
  for (const add of [
    addOrganizationCommands,
    addKeyCommands,
    addUnitCommands,
    addReconcileCommand,
    addRotateCommands,
  ])
    add(admin, run);
  for (const command of leavesOf(admin)) command.option('--json', 'print one JSON object instead of lines');
}

/** Wherever the option stands `admin` takes it; the commands have it too, so that their help shows it. */
function leavesOf(command: Command): Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

async function runAdmin(
  config: Config,
  json: boolean,
  work: (deps: AdminDeps) => Promise<CommandOutput>,
): Promise<void> {
  if (config.control.redisUrl === null) mkdirSync(config.dataDir, { recursive: true });
  const { openControlStore } = await import('../../accounts/open.ts');
  const store = openControlStore({ config, log: createLog('warn', 'settlement-index') });
  try {
    const output = await work({ store, nowMs: systemClock.nowMs(), config });
    for (const line of output.asides ?? []) process.stderr.write(`${line}\n`);
    process.stdout.write(`${json ? JSON.stringify(output.json) : output.lines.join('\n')}\n`);
    if (output.failed === true) process.exitCode = EXIT_FAILED;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    const advice =
      error instanceof OtherVersion
        ? `. ${error.advice}`
        : ': is it running, and does the configuration name it?';
    process.stderr.write(`${error.message}${advice}\n`);
    process.exitCode = EXIT_FAILED;
  } finally {
    await store.close();
  }
}
