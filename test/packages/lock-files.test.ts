import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** What `npm ci` installs is what was looked at when the lock file was written, wherever it runs. */

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const ROOT = new URL('../../', import.meta.url);
const LOCK_FILES = [
  'package-lock.json',
  'test/peers/package-lock.json',
  'scripts/tools/package-lock.json',
  'bench/sql/duckdb/package-lock.json',
  'bench/ingest/ponder/package-lock.json',
  'bench/ingest/envio/package-lock.json',
];
const PUBLIC_REGISTRY = /^https:\/\/registry\.npmjs\.org\//;

/**
 * Libraries of chdb for platforms whose packages could not be fetched when the file was written. Without the entries `npm ci` refuses the
 * file; their versions are fixed by chdb, whose digest is locked.
 */
const WITHOUT_DIGEST = ['@chdb/lib-darwin-arm64', '@chdb/lib-darwin-x64', '@chdb/lib-linux-arm64-gnu'];

function read(file: string): Readonly<Record<string, Locked>> {
  const { packages } = JSON.parse(readFileSync(new URL(file, ROOT), 'utf8')) as {
    packages: Record<string, Locked>;
  }; // written by npm
  return packages;
}

/** Packages of the registry, not this repository's own. */
function foreign(file: string): (readonly [name: string, locked: Locked])[] {
  return Object.entries(read(file)).flatMap(([path, locked]) =>
    path.includes('node_modules/') && locked.link !== true
      ? [[path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length), locked] as const]
      : [],
  );
}

test.each(LOCK_FILES)('every package of %s has a digest', (file) => {
  const without = foreign(file).filter(
    ([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''),
  );
  expect(without.map(([name]) => name)).toEqual(file === 'package-lock.json' ? WITHOUT_DIGEST : []);
});

test('the libraries of chdb that have no digest are of the version that chdb asks for', () => {
  const packages = read('package-lock.json');
  const asked = packages['node_modules/chdb']?.optionalDependencies ?? {};
  expect(Object.keys(asked)).toEqual(expect.arrayContaining(WITHOUT_DIGEST));
  for (const name of WITHOUT_DIGEST)
    expect([name, packages[`node_modules/${name}`]?.version]).toEqual([name, asked[name]]);
});

test.each(LOCK_FILES)('%s names no registry but the public one', (file) => {
  const named = Object.values(read(file)).flatMap(({ resolved, link }) =>
    resolved === undefined || link === true ? [] : [resolved],
  );
  expect(named.filter((url) => !PUBLIC_REGISTRY.test(url))).toEqual([]);
});

test('every version that package.json asks for is exact', () => {
  const manifest = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as Record<
    'dependencies' | 'devDependencies' | 'optionalDependencies',
    Record<string, string>
  >; // our own file
  const { dependencies, devDependencies, optionalDependencies } = manifest;
  const asked = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
  expect(asked.filter(([, version]) => !/^(npm:[a-z-]+@)?\d+\.\d+\.\d+(-[\w.-]+)?$/.test(version))).toEqual(
    [],
  );
});
