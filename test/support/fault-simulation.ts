import { readCoverage } from '../../src/reads/rollup-coverage.ts';
import { createFaultyWriter, type Fault, type FaultKind, type FaultyWriter } from './faulty-writer.ts';
import { readIndex } from './index-totals.ts';
import { type KillableEngine, startKillableEngine } from './killable-engine.ts';
import { createRecounter, type Lines, type Recount } from './recount.ts';
import { eventually, isCaughtUp, type SimulatedIngest, startSimulatedIngest } from './simulated-ingest.ts';
import { rollUp } from './simulated-rollup.ts';
import { createSimulatedWorld, type SimulatedWorld } from './simulated-world.ts';

/**
 * Random faults against the product's own writing, rollup and regrade code over a real engine that is really killed. After
 * every fault, once the index has caught up, every read path must give what receipts add up to.
 *
 * The seed decides what is done; how far the engine is when it dies is the machine's.
 */
export interface FaultSimulation {
  /** Steps until so many of them had a fault. Throws at the first difference, with seed, step and what was done. */
  run(faults: number): Promise<FaultReport>;
  remove(): Promise<void>;
}

export type FaultReport = Readonly<Record<string, number>>;

export async function startFaultSimulation(seed: number): Promise<FaultSimulation> {
  const engine = await startKillableEngine();
  const world = createSimulatedWorld(seed);
  const stage = createStage(world, engine);
  const check = createCheck(world, engine);
  return {
    async run(faults) {
      for (let step = 0; (stage.report()['steps with a fault'] ?? 0) < faults; step++) {
        stage.begin();
        try {
          await randomStep(stage, check);
        } catch (error) {
          const message = `seed ${seed}, step ${step}: ${stage.done().join('; ')}\n${String(error)}`;
          throw new Error(message, { cause: error });
        }
        stage.end();
      }
      return stage.report();
    },
    async remove() {
      await stage.stop();
      await engine.remove();
    },
  };
}

/** The processes and the book of what was done. */
interface Stage {
  readonly world: SimulatedWorld;
  readonly engine: KillableEngine;
  begin(): void;
  end(): void;
  note(what: string, isFault?: boolean): void;
  done(): readonly string[];
  report(): FaultReport;
  /** The writer of a process that is about to begin. */
  process(fault: Fault | null): FaultyWriter;
  /** Arms the running chain follower. */
  armIngest(fault: Fault | null): void;
  restartIngest(): Promise<void>;
  /** Resolves when every chain is indexed to its head, restarting the follower whenever a fault has ended it. */
  caughtUp(): Promise<void>;
  stop(): Promise<void>;
}

function createStage(world: SimulatedWorld, engine: KillableEngine): Stage {
  const counts: Record<string, number> = {};
  let done: string[] = [];
  let hadFault = false;
  const count = (what: string): void => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  const note = (what: string, isFault = false): void => {
    done.push(what);
    hadFault ||= isFault;
  };
  const onFault = (kind: FaultKind): void => {
    note(kind, true);
    count(kind);
  };
  const process = (fault: Fault | null): FaultyWriter => {
    const writer = createFaultyWriter(engine.writer, { killEngine: () => engine.kill(), onFault });
    writer.arm(fault);
    return writer;
  };
  let ingest: { readonly run: SimulatedIngest; readonly writer: FaultyWriter } | null = null;
  const restartIngest = async (): Promise<void> => {
    await ingest?.run.stop();
    const writer = process(null);
    const catalogue = world.catalogue().product;
    ingest = { writer, run: startSimulatedIngest({ chains: world.chains, catalogue, writer }) };
  };
  const isEverythingIndexed = async (): Promise<boolean> => {
    const ended = ingest?.run.ended();
    if (ingest === null || ended) {
      if (ended && !hadFault) throw ended.error;
      await restartIngest();
      return false;
    }
    const { product } = world.catalogue();
    const each = await Promise.all(world.chains.map((chain) => isCaughtUp(engine.writer, chain, product)));
    return each.every(Boolean);
  };
  return {
    world,
    engine,
    process,
    note,
    restartIngest,
    begin() {
      done = [];
      hadFault = false;
    },
    end() {
      if (hadFault) count('steps with a fault');
      for (const what of done) if (what.startsWith('reorg')) count('reorg');
      count('steps');
    },
    done: () => done,
    report: () => counts,
    armIngest: (fault) => ingest?.writer.arm(fault),
    async caughtUp() {
      await eventually('every chain is indexed to its head', isEverythingIndexed);
      ingest?.writer.arm(null);
      await engine.settled();
    },
    stop: async () => ingest?.run.stop(),
  };
}

type Check = (mustBeClosed: boolean) => Promise<void>;

const KINDS: readonly FaultKind[] = [
  ...(['kill-engine', 'kill-engine', 'kill-engine', 'break-view', 'break-view', 'break-view'] as const),
  ...(['lose-ack', 'lose-ack', 'die', 'pause', 'pause'] as const),
];
/** A follower writes rows, blocks and a checkpoint per window, and four statements per retraction. */
const INGEST_WRITES_MAX = 6;
/** A slice takes a write per table and one for its record. */
const ROLLUP_WRITES_MAX = 14;
const KILL_DELAY_MAX_MS = 25;
const BLOCKS_MAX = 4;

async function randomStep(stage: Stage, check: Check): Promise<void> {
  const { random } = stage.world;
  const faultOf = (writesMax: number, meanwhile: () => Promise<void>): Fault => ({
    kind: random.pick(KINDS),
    after: random.below(writesMax),
    delayMs: random.below(KILL_DELAY_MAX_MS),
    meanwhile,
  });
  const closeAll = () => rollUp(stage.process(null), stage.engine.writer);
  if (random.chance(0.65)) {
    stage.armIngest(faultOf(INGEST_WRITES_MAX, closeAll));
    const beside = random.chance(0.3) ? closeAll() : Promise.resolve();
    await move(stage);
    await Promise.all([stage.caughtUp(), beside]);
  } else {
    if (random.chance(0.7)) await move(stage);
    const next = random.chance(0.5)
      ? closeAll
      : async () => {
          await move(stage);
          await stage.caughtUp();
        };
    await interrupted(rollUp(stage.process(faultOf(ROLLUP_WRITES_MAX, next)), stage.engine.writer));
    await stage.caughtUp();
  }
  await check(false);
  if (random.chance(0.3)) return;
  await Promise.all(random.chance(0.3) ? [closeAll(), closeAll()] : [closeAll()]);
  await check(true);
}

/** A process that a fault may have ended. What it leaves undone is another one's to do, later. */
async function interrupted(process: Promise<void>): Promise<void> {
  await process.catch((error: unknown) => {
    if (!(error instanceof Error) || error.name !== 'SimulatedDeath') throw error;
  });
}

/** Something happens to the chains or to the follower. */
async function move(stage: Stage): Promise<void> {
  const { world } = stage;
  const drawn = world.random.below(12);
  if (drawn < 5) world.grow(BLOCKS_MAX);
  else if (drawn < 10) await reorganise(stage, drawn >= 9);
  else if (drawn === 10) {
    if (world.beginEarlier()) stage.note('earlier first block');
    await stage.restartIngest();
  } else {
    world.grow(BLOCKS_MAX);
    stage.note('restart');
    await stage.restartIngest();
  }
}

async function reorganise(stage: Stage, whileDown: boolean): Promise<void> {
  if (whileDown) await stage.stop();
  stage.note(stage.world.reorganise(), true);
  if (whileDown) await stage.restartIngest();
}

const DIFFERENCES_SHOWN_MAX = 5;

function createCheck(world: SimulatedWorld, engine: KillableEngine): Check {
  const recount = createRecounter();
  return async (mustBeClosed) => {
    await eventually('the engine answers', async () => {
      await engine.reader.ping();
      return true;
    });
    const coverage = await readCoverage(engine.reader);
    if (mustBeClosed && coverage.open.length !== 1)
      throw new Error(`still open after a full pass: ${JSON.stringify(coverage.open)}`);
    const truth = await recount(world.chains, world.catalogue());
    const index = await readIndex(engine.reader, coverage);
    const parts: readonly (keyof Recount)[] = [
      ...(['settlements', 'walletLog', 'payees', 'payers', 'relayers', 'chainHours'] as const),
    ];
    const wrong = parts.flatMap((part) => differences(part, index[part], truth[part]));
    if (wrong.length > 0) {
      const when = mustBeClosed ? 'with every slice closed' : `with open ${JSON.stringify(coverage.open)}`;
      throw new Error([`the index is wrong ${when}`, ...wrong].join('\n'));
    }
  };
}

function differences(part: string, index: Lines, truth: Lines): string[] {
  const keys = [...new Set([...index.keys(), ...truth.keys()])].filter(
    (key) => index.get(key) !== truth.get(key),
  );
  const shown = keys
    .slice(0, DIFFERENCES_SHOWN_MAX)
    .map((key) => `  ${key}\n    index ${index.get(key) ?? '-'}\n    truth ${truth.get(key) ?? '-'}`);
  return keys.length === 0 ? [] : [`${part}: ${keys.length} of ${truth.size} differ`, ...shown];
}
