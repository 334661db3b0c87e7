import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `npm run build`: dist (the service with its console and documents) and client/dist. `node scripts/build.mjs client` builds the client alone. */
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const PATH = [resolve('node_modules/.bin'), process.env.PATH].join(delimiter);

function run(command) {
  const { status } = spawnSync(command, { shell: true, stdio: 'inherit', env: { ...process.env, PATH } });
  if (status !== 0) process.exit(status ?? 1);
}

function buildClient() {
  rmSync('client/dist', { recursive: true, force: true });
  run('npm run -s compile -- -p client');
  // It holds types only. The compiler writes them again with twice the indentation.
  cpSync('client/openapi.ts', 'client/dist/openapi.d.ts');
}

function buildService() {
  // Files of an older build would be packed.
  rmSync('dist', { recursive: true, force: true });
  run('npm run -s compile -- -p tsconfig.build.json');
  run('node scripts/copy-assets.mjs');
  run('tsx scripts/build-console.ts');
}

run('tsx scripts/generate.ts --built');
if (process.argv[2] !== 'client') buildService();
buildClient();
