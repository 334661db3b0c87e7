import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Runs at the end of `npm ci` in a checkout: the types of the client are generated. Without the development packages nothing needs them. */
if (existsSync('node_modules/tsx') && existsSync('node_modules/openapi-typescript')) {
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', 'scripts/generate.ts', '--built'], {
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}
