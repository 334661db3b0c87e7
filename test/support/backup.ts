import type { BackupDeps } from '../../src/backup/backup-command.ts';
import { loadConfig } from '../../src/config/load.ts';
import { testLog } from './engine.ts';

/** What the two commands are given by the program, with the lines that they say. */
export interface TestBackup {
  readonly deps: BackupDeps;
  readonly said: string[];
}

export function testBackup(file: string): TestBackup {
  const said: string[] = [];
  return {
    said,
    deps: {
      config: loadConfig({ file, env: {} }),
      log: testLog,
      program: 'test',
      signal: new AbortController().signal,
      isTerminal: false,
      say: (line) => said.push(line),
    },
  };
}
