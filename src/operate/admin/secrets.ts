import type { Command } from 'commander';
import {
  CURSOR_KEY_FILE,
  CURSOR_KEY_KEPT_DAYS,
  CURSOR_KEY_KEPT_MS,
  KEY_ISSUE_FILE,
  KEY_ISSUE_KEPT_DAYS,
  KEY_ISSUE_KEPT_MS,
  rotateSecret,
} from '../../../core/secret-file.ts';
import { UserError } from '../../../core/user-error.ts';

import type { AdminDeps, CommandOutput, RunAdmin } from './command-output.ts';

/** `admin rotate-cursor-key` and `admin rotate-issue-key`: the secrets that this deployment generated for itself. */

interface Rotation {
  readonly file: string;
  readonly keptDays: number;
  readonly keptMs: number;
  /** What the old secret is still good for. */
  readonly stillGood: string;
}

const CURSOR_KEY: Rotation = {
  file: CURSOR_KEY_FILE,
  keptDays: CURSOR_KEY_KEPT_DAYS,
  keptMs: CURSOR_KEY_KEPT_MS,
  stillGood: 'cursors that are out',
};
const ISSUE_KEY: Rotation = {
  file: KEY_ISSUE_FILE,
  keptDays: KEY_ISSUE_KEPT_DAYS,
  keptMs: KEY_ISSUE_KEPT_MS,
  stillGood: 'trial keys that are shown again',
};

export function addRotateCommands(admin: Command, run: RunAdmin): void {
  admin
    .command('rotate-cursor-key')
    .description(`sign cursors with a new key; those that are out stay good for ${CURSOR_KEY_KEPT_DAYS} days`)
    .action(() => run((deps) => rotate(deps, CURSOR_KEY)));
  admin
    .command('rotate-issue-key')
    .description(
      `make trial keys of a new secret; old ones can be shown again for ${KEY_ISSUE_KEPT_DAYS} days`,
    )
    .action(() => run((deps) => rotate(deps, ISSUE_KEY)));
}

function rotate(
  { config, nowMs }: AdminDeps,
  { file, keptDays, keptMs, stillGood }: Rotation,
): Promise<CommandOutput> {
  if (config.cursorSecrets.length > 0)
    throw new UserError(
      'This deployment has cursorSecrets in its configuration, from which both secrets come: change them there, as docs/upkeep.md, "Rotate secrets", says.',
    );
  rotateSecret(config.dataDir, file, { keptMs, nowMs });
  return Promise.resolve({
    json: { file, kept_days: keptDays },
    lines: [`${file} has a new secret; the one before is good for ${stillGood} for ${keptDays} days`],
    asides: ['A service that runs uses it from its next start on: restart it.'],
  });
}
