import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Installs the packages that `npm ci` leaves out, each in a folder with a lock file of its own: what single tests drive (test/peers) and
 * what single scripts need (scripts/tools). `npm run test:all` and `npm run test:nightly` begin with it. A folder whose lock file has not
 * changed since is left alone.
 */
for (const folder of ['test/peers', 'scripts/tools']) {
  const path = fileURLToPath(new URL(`../${folder}/`, import.meta.url));
  const digest = createHash('sha256')
    .update(readFileSync(`${path}package-lock.json`))
    .digest('hex');
  const installed = `${path}node_modules/.installed-lock`;
  if (existsSync(installed) && readFileSync(installed, 'utf8') === digest) continue;
  console.log(`installing the packages of ${folder}`);
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: path, stdio: 'inherit' });
  if (status !== 0) {
    console.error(`the packages of ${folder} could not be installed: npm ci --prefix ${folder}`);
    process.exit(1);
  }
  writeFileSync(installed, digest);
}
