import { readFileSync, writeFileSync } from 'node:fs';

/**
 * `npm ci` refuses a lock file that lacks an optional platform package, and a registry that does not carry one leaves it out.
 * This adds the missing entries, so that the lock is whole wherever it was made: name and version from the package that asks
 * for them, platform from the name. Run after every change of dependencies: `npm run lock`.
 */
const CPU = {
  x64: 'x64',
  amd64: 'x64',
  arm64: 'arm64',
  arm: 'arm',
  ia32: 'ia32',
  ppc64: 'ppc64',
  riscv64: 'riscv64',
  s390x: 's390x',
  loong64: 'loong64',
  mips64el: 'mips64el',
  wasm32: 'wasm32',
};
const OS = [
  'darwin',
  'linux',
  'win32',
  'android',
  'freebsd',
  'netbsd',
  'openbsd',
  'sunos',
  'aix',
  'openharmony',
];

/** Of another package when named: `node scripts/complete-lock.mjs bench/sql/duckdb/package-lock.json`. */
const file = process.argv[2] ?? new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));
const added = [];
for (const parent of Object.values({ ...lock.packages })) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const at = `node_modules/${name}`;
    if (lock.packages[at] !== undefined) continue;
    lock.packages[at] = {
      version,
      ...platformOf(name),
      ...(parent.dev ? { dev: true } : {}),
      optional: true,
    };
    added.push(`${name}@${version}`);
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(added.length === 0 ? 'the lock file is whole' : `added ${added.join(', ')}`);

function platformOf(name) {
  const words = name.split(/[/-]/);
  const os = OS.find((word) => words.includes(word));
  const cpu = Object.entries(CPU).find(([word]) => words.includes(word))?.[1];
  const libc = libcOf(words);
  return { ...(cpu ? { cpu: [cpu] } : {}), ...(libc ? { libc: [libc] } : {}), ...(os ? { os: [os] } : {}) };
}

function libcOf(words) {
  if (words.some((word) => word.startsWith('musl'))) return 'musl';
  return words.includes('gnu') ? 'glibc' : undefined;
}
