import type { Command } from 'commander';
import {
  BUNDLE_KEY_FILE,
  BUNDLE_KEY_KEPT_DAYS,
  BUNDLE_KEY_KEPT_MS,
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

/** `admin rotate-cursor-key`, `rotate-issue-key` and `rotate-bundle-key`: the secrets that this deployment generated for itself. */

interface Rotation {
  readonly file: string;
  readonly keptDays: number;
  readonly keptMs: number;
  /** The remaining uses of the old secret. */
  readonly stillGood: string;
  /** What the operator does next. */
  readonly afterwards: string;
  /** The setting that the secret comes from instead, where it is set. */
  readonly configured: { readonly isSet: (config: AdminDeps['config']) => boolean; readonly detail: string };
}

const FROM_CURSOR_SECRETS: Rotation['configured'] = {
  isSet: ({ cursorSecrets }) => cursorSecrets.length > 0,
  detail:
    'This deployment has cursorSecrets in its configuration, from which both secrets come: change them there, as docs/upkeep.md, "Rotate secrets", says.',
};
const RESTART = 'A service that runs uses it from its next start on: restart it.';

const CURSOR_KEY: Rotation = {
  file: CURSOR_KEY_FILE,
  keptDays: CURSOR_KEY_KEPT_DAYS,
  keptMs: CURSOR_KEY_KEPT_MS,
  stillGood: 'cursors that are out',
  afterwards: RESTART,
  configured: FROM_CURSOR_SECRETS,
};
const ISSUE_KEY: Rotation = {
  file: KEY_ISSUE_FILE,
  keptDays: KEY_ISSUE_KEPT_DAYS,
  keptMs: KEY_ISSUE_KEPT_MS,
  stillGood: 'trial keys that are shown again',
  afterwards: RESTART,
  configured: FROM_CURSOR_SECRETS,
};
const BUNDLE_KEY: Rotation = {
  file: BUNDLE_KEY_FILE,
  keptDays: BUNDLE_KEY_KEPT_DAYS,
  keptMs: BUNDLE_KEY_KEPT_MS,
  stillGood: 'bundles that it signed: its public key stays published',
  afterwards: 'The next run of the command bundle signs every manifest with it: run it now.',
  configured: {
    isSet: ({ bundles }) => bundles.signingSecrets.length > 0,
    detail:
      'This deployment has bundles.signingSecrets in its configuration: put the new secret first there and keep the old ones behind it, as docs/bundles.md, "The key that signs", says.',
  },
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
  admin
    .command('rotate-bundle-key')
    .description('sign bundles with a new key; the public keys of the old ones stay published')
    .action(() => run((deps) => rotate(deps, BUNDLE_KEY)));
}

function rotate(
  { config, nowMs }: AdminDeps,
  { file, keptDays, keptMs, stillGood, afterwards, configured }: Rotation,
): Promise<CommandOutput> {
  if (configured.isSet(config)) throw new UserError(configured.detail);
  rotateSecret(config.dataDir, file, { keptMs, nowMs });
  return Promise.resolve({
    json: { file, kept_days: keptDays },
    lines: [`${file} has a new secret; the one before is good for ${stillGood} for ${keptDays} days`],
    asides: [afterwards],
  });
}
