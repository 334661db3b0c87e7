import { randomInt } from 'node:crypto';

/** The long runs of `npm run test:nightly`, in the order in which they run. */
export interface NightlyPart {
  readonly name: string;
  /** One line for `--help`. */
  readonly about: string;
  /** How long it goes on where `--minutes` does not say; null: it ends by itself. */
  readonly minutes: number | null;
  /** About how long it takes where it ends by itself, for the estimate of the remaining time. */
  readonly expectedMinutes: number;
  /** One process. A part with minutes whose process ends before they are over is started again, with another seed. */
  command(minutes: number): Command;
}

/** Arguments of Node, run in the root of the repository. */
export interface Command {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const TSX = ['--import', 'tsx'] as const;
const VITEST = 'node_modules/vitest/vitest.mjs';
const LONG = { TEST_LENGTH: 'nightly', CI_REQUIRE_PEERS: '1' } as const;
const SECONDS_PER_MINUTE = 60;
/** Some minutes: a finding is reported soon, and the minutes asked for are kept to. */
const HTTP_REQUESTS_PER_ROUND = 5_000;
const SEEDS = 2 ** 31 - 1;

/** Tests of the suite at their full length. */
const tests = (...files: readonly string[]): Command => ({ args: [VITEST, 'run', ...files], env: LONG });

export const NIGHTLY_PARTS: readonly NightlyPart[] = [
  {
    name: 'suite',
    about: 'every test, each random or repeated one at its full length',
    minutes: null,
    expectedMinutes: 20,
    command: () => tests(),
  },
  {
    name: 'patterns',
    about: 'every regular expression of the product, judged anew',
    minutes: null,
    expectedMinutes: 2,
    command: () => ({ args: [...TSX, 'scripts/judge-patterns.ts'] }),
  },
  {
    name: 'demo',
    about: 'the demo, with visitors who pay, get in the way and ask',
    minutes: 60,
    expectedMinutes: 60,
    command: (minutes) => ({ args: [...TSX, 'test/nightly/demo-hour.ts', '--minutes', String(minutes)] }),
  },
  {
    name: 'chaos',
    about: 'many processes that are killed, stopped, cut off and misled, with a new seed',
    minutes: 60,
    expectedMinutes: 60,
    command: (minutes) => ({ args: [...TSX, 'test/chaos/main.ts', '--minutes', String(minutes)] }),
  },
  {
    name: 'fuzz-sql',
    about: 'made-up queries for the sandbox, with a new seed',
    minutes: 60,
    expectedMinutes: 60,
    command: (minutes) => ({
      args: [...TSX, 'test/fuzz/sql/main.ts', '--seconds', String(minutes * SECONDS_PER_MINUTE)],
    }),
  },
  {
    name: 'fuzz-http',
    about: `made-up requests for the API, ${HTTP_REQUESTS_PER_ROUND} with each new seed`,
    minutes: 30,
    expectedMinutes: 30,
    command: () => ({
      args: [
        ...TSX,
        'test/fuzz/http/main.ts',
        '--runs',
        String(HTTP_REQUESTS_PER_ROUND),
        '--seed',
        String(randomInt(SEEDS)),
      ],
    }),
  },
  {
    name: 'many-ingest',
    about: 'several ingest processes that share a chain, again and again',
    minutes: 15,
    expectedMinutes: 15,
    command: () => tests('test/ingest/many-ingest.e2e.test.ts'),
  },
  {
    name: 'cluster',
    about: 'shards and replicas, again and again',
    minutes: 15,
    expectedMinutes: 15,
    command: () => tests('test/clickhouse/cluster', 'test/src/operate/backup/cluster-backup.engine.test.ts'),
  },
  {
    name: 'node24',
    about: 'npm ci and npm test on Node 24',
    minutes: null,
    expectedMinutes: 15,
    command: () => ({ args: [...TSX, 'test/nightly/node24.ts'] }),
  },
];

/** The parts with these names in the order of the list; all of them where there is no name. Throws where there is no such part. */
export function partsNamed(names: readonly string[]): readonly NightlyPart[] {
  const known = NIGHTLY_PARTS.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new Error(`There is no part "${unknown}". The parts are ${known.join(', ')}.`);
  return NIGHTLY_PARTS.filter(({ name }) => names.length === 0 || names.includes(name));
}
