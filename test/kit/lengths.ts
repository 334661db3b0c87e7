import { ringOfRun } from './rings.ts';

/**
 * How long the random and the repeated runs of the tests are: `push` in the first ring (rings.ts), `gate` in `npm run test:all`,
 * `nightly` where TEST_LENGTH=nightly, as in `npm run test:nightly -- suite`. All make the same claims; a longer run looks at more cases.
 */
type TestLength = 'push' | 'gate' | 'nightly';

/** Where `push` is absent it is as long as `gate`. */
type Lengths = { readonly push?: number; readonly gate: number; readonly nightly: number };

const LENGTHS = {
  /** Steps with a fault in the simulation; it goes on until every kind of fault has happened. */
  simulatedFaults: { gate: 15, nightly: 100 },
  /** `kill -9` of the engine, the worker and both, in turn, under traffic. */
  indexKills: { gate: 5, nightly: 24 },
  /** The same over a local Solana. */
  solanaKills: { gate: 6, nightly: 24 },
  /** `kill -9` of API processes that run jobs, of their engine and of Redis, at random. */
  jobKills: { gate: 5, nightly: 200 },
  /** `kill -9` of a process that moves units. */
  unitKills: { gate: 5, nightly: 30 },
  /** Every n-th depth of a reorg is tried, and the deepest. */
  reorgDepthStep: { gate: 5, nightly: 1 },
  /** Rounds of blocks, a reorg and perhaps a restart over the registries. */
  registryRounds: { gate: 3, nightly: 6 },
  /** Runs of a property whose every run writes to the engine and reads it back. */
  engineProperties: { push: 1, gate: 2, nightly: 12 },
  /** Runs of a property of a whole local Solana. */
  solanaChains: { push: 3, gate: 10, nightly: 100 },
  /** Runs of a property of the control store over commands in random order. */
  storeProperties: { gate: 12, nightly: 100 },
  /** Runs of a property of a dozen metered calls over SQLite. */
  chargeProperties: { gate: 40, nightly: 300 },
  sqlFuzzSeconds: { gate: 15, nightly: 120 },
  /** About what the seconds hold on two idle cores; a faster machine judges a commit by the same queries. */
  sqlFuzzCases: { gate: 1_300, nightly: 11_000 },
  httpFuzzRequests: { gate: 200, nightly: 800 },
  /** Every n-th statement of the engine's own documentation that the sandbox should accept. */
  acceptedStatementStep: { push: 20, gate: 4, nightly: 1 },
  /** Every n-th question of analysts that is also asked for as a file. */
  exportedQuestionStep: { gate: 8, nightly: 1 },
  /** A process dies after every n-th of the writes of a change of the catalogue. */
  deadlyWriteStep: { gate: 3, nightly: 1 },
  /** Lies about single logs, each to an index of its own. */
  lostLogs: { gate: 15, nightly: 300 },
  /** Seeds of a node that lies in every way. */
  liarSeeds: { push: 1, gate: 2, nightly: 5 },
  /** Attacks of each family and outcome that are also sent past the first wall, and through each interface. */
  attacksOfEachKind: { gate: 1, nightly: 10_000 },
  /** Queries that are typed into the editor of the console. */
  typedQueries: { gate: 4, nightly: 500 },
} as const satisfies Readonly<Record<string, Lengths>>;

const LENGTH = readLength();
/** Whether this run is the long one. */
export const IS_NIGHTLY = LENGTH === 'nightly';
/** Whether this run is the first ring: tests of a bound, or of many rows, that others of their file hold in a smaller form wait for the next. */
export const IS_PUSH = LENGTH === 'push';

export function lengthOf(run: keyof typeof LENGTHS): number {
  const { push, gate, nightly }: Lengths = LENGTHS[run];
  return { push: push ?? gate, gate, nightly }[LENGTH];
}

function readLength(): TestLength {
  const length = process.env['TEST_LENGTH'] ?? (ringOfRun() === 'first' ? 'push' : 'gate');
  if (length === 'push' || length === 'gate' || length === 'nightly') return length;
  throw new Error(`TEST_LENGTH is "${length}"; it must be push, gate or nightly`);
}
