import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Programs of others that single tests drive: a package of its own (test/peers), because they weigh 280 MB. */

const PEERS = new URL('../peers/', import.meta.url);

let isSaid = false;

/**
 * Whether the packages of test/peers are installed, as `npm run test:all` does. Without them their tests are skipped, with one line that
 * says what to run; where `CI_REQUIRE_PEERS=1` says that they must be there, the file fails. For `describe.skipIf(!peersAreThere())`.
 */
export function peersAreThere(): boolean {
  if (existsSync(peerFile('.package-lock.json'))) return true;
  if (process.env['CI_REQUIRE_PEERS'] === '1') {
    throw new Error('test/peers is not installed, and CI_REQUIRE_PEERS=1 requires it');
  }
  if (!isSaid) {
    process.stderr.write(
      '\nSKIPPED: tests that drive programs of others, because test/peers is not installed. Install it: npm ci --prefix test/peers\n\n',
    );
  }
  isSaid = true;
  return false;
}

/** A module of test/peers. Their types are not installed with the project: a test declares the part that it calls. */
export const requirePeer = createRequire(new URL('package.json', PEERS));

/** The path of a file in the packages of test/peers. */
export function peerFile(path: string): string {
  return fileURLToPath(new URL(`node_modules/${path}`, PEERS));
}
