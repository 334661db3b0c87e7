/**
 * The rings of the tests (CONTRIBUTING.md, "Tests"). `npm test` runs the first ring: every pure test, and of the tests on real engines,
 * Redis, browsers and processes those below. `npm run test:all` runs all of them.
 */
export const RINGS = ['first', 'all'] as const;
export type Ring = (typeof RINGS)[number];

/** Without their ending, by folder of `test/`. Each holds a guarantee that a user would miss at once; the rest runs before a release. */
const FIRST: Readonly<Record<string, readonly string[]>> = {
  clickhouse: ['engine/http-engine', 'guest/public-views', 'migrate/migrate', 'tables/all-tables'],
  client: ['client'],
  console: ['pages'],
  ingest: ['agents/derive', 'verdicts/pass', 'write/checkpoints', 'write/retract'],
  sandbox: [
    'judge/differences',
    'judge/sandbox-attacks',
    'judge/sandbox-inspect',
    'judge/sandbox-legit',
    'run/sandbox-run',
  ],
  src: [
    'accounts/control-store-redis',
    'gate/lanes',
    'gate/gate',
    'http/clickhouse/clickhouse',
    'jobs/jobs',
    'mcp/mcp',
    'operations/account/own-account',
    'operations/agents/agents',
    'operations/attestations/attestations',
    'operations/capabilities/capabilities',
    'operations/chain-scope',
    'operations/endpoints/endpoints',
    'operations/facilitators/facilitators',
    'operations/operations',
    'operations/rankings/rankings',
    'operations/saved/saved-queries',
    'operations/settlements/transaction',
    'operations/settlements/walk',
    'operations/sql/key-ends',
    'operations/sql/run-sql',
    'operations/sql/whole-answers',
    'operations/wallets/summary',
    'operations/wallets/wallets',
    'payment/lane',
    'smoke',
  ],
};

/** The files of a project; its kind is their ending before `.test.ts`. */
export function filesOf(ring: Ring, kind: 'engine' | 'redis' | 'browser' | 'e2e'): string[] {
  if (ring === 'all') return [`test/**/*.${kind}.test.ts`];
  return Object.entries(FIRST).flatMap(([folder, names]) =>
    names.map((name) => `test/${folder}/${name}.${kind}.test.ts`),
  );
}

/** Of the environment of a run, which scripts/test.mjs sets; `all` where vitest is run by hand. */
export function ringOfRun(): Ring {
  return RINGS.find((ring) => ring === process.env['TEST_RING']) ?? 'all';
}
