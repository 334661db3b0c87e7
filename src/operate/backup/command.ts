import { type Command, Option } from 'commander';
import type { BackupArguments } from './backup.ts';
import type { RestoreArguments } from './restore.ts';

/** How the two commands are written on the command line. */

const BACKUP_HELP = `
Works with or without a running service: give the same --config and environment. The directory must be empty or new; it is
readable by you only, and holds secrets unless --no-secrets is given. With a remote engine the index goes to a disk of the server.
Exit codes: 0 done, 1 failed, 2 something must be corrected. What it means: docs/upkeep.md`;

const RESTORE_HELP = `
Stop the service first. Every file is checked before anything is changed, and nothing that is there is ever replaced: the data
directory (or database, or Redis) must hold nothing. The configuration in the backup is left where it is.
Exit codes: 0 done, 1 failed, 2 something must be corrected. What it means: docs/upkeep.md`;

const ONLY = () =>
  new Option('--only <part>', 'the accounts with the secrets, or the index alone').choices([
    'accounts',
    'index',
  ]);

export function addBackupCommands(
  program: Command,
  run: {
    backUp(directory: string, given: BackupArguments): Promise<void>;
    restore(directory: string, given: RestoreArguments): Promise<void>;
  },
): void {
  program
    .command('backup')
    .description('copy index, accounts and secrets into a directory, then end')
    .argument('<directory>', 'a new or empty directory')
    .option('--base <directory>', 'an older backup; of the index only what is new since then is copied')
    .option('--disk <name>', 'disk of a remote engine that the index goes to (default: backups)')
    .addOption(ONLY())
    .option('--no-secrets', 'leave out the keys in the data directory and the configuration')
    .addHelpText('after', BACKUP_HELP)
    .action((directory: string, given: BackupArguments) => run.backUp(directory, given));
  program
    .command('restore')
    .description('put a backup back where nothing is, then end')
    .argument('<directory>', 'the directory of a backup')
    .option('--disk <name>', 'disk of a remote engine that the index was copied to by you')
    .addOption(ONLY())
    .addHelpText('after', RESTORE_HELP)
    .action((directory: string, given: RestoreArguments) => run.restore(directory, given));
}
