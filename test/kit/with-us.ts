import { spawnSync } from 'node:child_process';

/**
 * What stands before a command that must not outlive us, not even when we are killed with SIGKILL: Node has no signal for the death
 * of a parent, Linux has. Empty where there is no setpriv (util-linux).
 */
export const WITH_US: readonly string[] =
  spawnSync('setpriv', ['--version']).error === undefined ? ['setpriv', '--pdeathsig', 'KILL'] : [];
