import { createTruthCheck } from './check.ts';
import { startKillableEngine } from './engine.ts';
import { type Fault, type FaultKind, SimulatedDeath } from './faulty-writer.ts';
import { createStage, type FaultReport, type Stage } from './stage.ts';
import { createSimulatedWorld } from './world.ts';

/**
 * Random faults against the product's own writing, rollup and regrade code over a real engine that is really killed. After
 * every fault, once the index has caught up, every read path must give what receipts add up to.
 *
 * The seed decides the steps; how far the engine is when it dies is the machine's.
 */
export interface FaultSimulation {
  /**
   * Steps until so many of them had a fault and every one of `kinds` has happened, or until five times as many had one. Throws at
   * the first difference, with seed, step and what was done.
   */
  run(faults: number, kinds?: readonly string[]): Promise<FaultReport>;
  remove(): Promise<void>;
}

export async function startFaultSimulation(seed: number): Promise<FaultSimulation> {
  const engine = await startKillableEngine();
  const world = createSimulatedWorld(seed);
  const stage = createStage(world, engine);
  const check = createTruthCheck(world, engine);
  return {
    async run(faults, kinds = []) {
      const isOver = (report: FaultReport): boolean => {
        const had = report['steps with a fault'] ?? 0;
        const isComplete = kinds.every((kind) => (report[kind] ?? 0) > 0);
        return had >= faults && (isComplete || had >= faults * FAULTS_FACTOR_MAX);
      };
      for (let step = 0; !isOver(stage.report()); step++) {
        stage.begin();
        try {
          await randomStep(stage);
          await check(false);
          if (await closeEverything(stage)) await check(true);
        } catch (cause) {
          const reason =
            cause instanceof Error ? `${cause.message}\n${String(cause.cause ?? '')}` : String(cause);
          throw new Error(`seed ${seed}, step ${step}: ${stage.done().join('; ')}\n${reason}`, { cause });
        }
        stage.end();
      }
      return stage.report();
    },
    async remove() {
      await stage.stopIngest();
      await engine.remove();
    },
  };
}

/** A kind that has not happened in so many times the faults does not happen any more. */
const FAULTS_FACTOR_MAX = 5;
/** By weight. */
const KINDS: readonly FaultKind[] = [
  ...(['kill-engine', 'kill-engine', 'kill-engine', 'break-view', 'break-view', 'break-view'] as const),
  ...(['lose-ack', 'lose-ack', 'die', 'pause', 'pause'] as const),
];
/** A follower writes rows, blocks and a checkpoint per window, and a handful of statements per retraction. */
const INGEST_WRITES_MAX = 4;
/** Record and claim, publish, rows, marks, progress. */
const REGRADE_WRITES_MAX = 9;
/** A slice takes a write per table and one for its record. */
const ROLLUP_WRITES_MAX = 10;
const KILL_DELAY_MAX_MS = 25;
const BLOCKS_MAX = 3;
const CATALOGUE_CHANGES_MAX = 3;

async function randomStep(stage: Stage): Promise<void> {
  const { random } = stage.world;
  const drawn = random.unit();
  if (drawn < 0.4) await hitIngest(stage);
  else if (drawn < 0.6) await hitRegrade(stage);
  else if (drawn < 0.7) await regradeBesideRetraction(stage);
  else await hitRollup(stage);
  await stage.recovered();
}

function randomFault({ world: { random } }: Stage, writesMax: number, meanwhile: () => Promise<void>): Fault {
  return {
    kind: random.pick(KINDS),
    after: random.below(writesMax),
    only: '',
    delayMs: random.below(KILL_DELAY_MAX_MS),
    meanwhile,
  };
}

async function hitIngest(stage: Stage): Promise<void> {
  const { random } = stage.world;
  const isRolledUpBeside = random.chance(0.3);
  await move(stage);
  // Not before: a restart begins with a process of its own. The first write is still to come, it takes a turn of I/O.
  stage.armIngest(randomFault(stage, INGEST_WRITES_MAX, () => stage.rollUp(null)));
  if (isRolledUpBeside) await Promise.all([stage.indexed(), stage.rollUp(null)]);
}

/** The catalogue changes and the pass over the rows is hit; while it pauses the chain moves under it. */
async function hitRegrade(stage: Stage): Promise<void> {
  const moveOn = async () => {
    await moveChains(stage);
    await stage.indexed();
  };
  if (stage.world.random.chance(0.3)) await move(stage);
  changeCatalogue(stage);
  stage.armRegrade(randomFault(stage, REGRADE_WRITES_MAX, moveOn));
}

/** Tombstones wait, version in hand, while the rows under them are regraded. */
async function regradeBesideRetraction(stage: Stage): Promise<void> {
  const regrade = async () => {
    changeCatalogue(stage);
    changeCatalogue(stage);
    await stage.followed();
  };
  // Mostly the tombstones of the rows themselves, which are the second statement.
  const after = stage.world.random.pick([1, 1, 1, 0, 2, 3]);
  stage.armIngest({ kind: 'pause', only: 'retract ', after, delayMs: 0, meanwhile: regrade });
  reorganise(stage);
}

async function hitRollup(stage: Stage): Promise<void> {
  const { random } = stage.world;
  if (random.chance(0.7)) await move(stage);
  const other = async () => {
    if (random.chance(0.5)) return stage.rollUp(null);
    if (random.chance(0.5)) changeCatalogue(stage);
    else await move(stage);
    await stage.recovered();
  };
  // A process that its fault ended leaves its work to another one, later.
  await stage.rollUp(randomFault(stage, ROLLUP_WRITES_MAX, other)).catch((error: unknown) => {
    if (!(error instanceof SimulatedDeath)) throw error;
  });
}

/** Mostly; a step that leaves slices open lets the next faults meet them. */
async function closeEverything(stage: Stage): Promise<boolean> {
  const { random } = stage.world;
  if (random.chance(0.3)) return false;
  if (random.chance(0.3)) await Promise.all([stage.rollUp(null), stage.rollUp(null)]);
  // Of two workers at once the overtaken one may have reopened a slice at the very end.
  await stage.rollUp(null);
  return true;
}

/** Something happens to the chains or to the ingest process. */
async function move(stage: Stage): Promise<void> {
  const { world } = stage;
  const drawn = world.random.below(12);
  if (drawn < 8) return moveChains(stage);
  if (drawn < 10) {
    await stage.stopIngest();
    moveChains(stage);
    stage.note('restart');
  } else if (world.beginEarlier()) stage.note('backfill: from an earlier first block');
  await stage.restartIngest();
}

function moveChains(stage: Stage): void {
  if (stage.world.random.chance(0.5)) stage.world.grow(BLOCKS_MAX);
  else reorganise(stage);
}

function reorganise(stage: Stage): void {
  stage.note(stage.world.reorganise(), true);
}

function changeCatalogue(stage: Stage): void {
  const { world } = stage;
  for (let count = 1 + world.random.below(CATALOGUE_CHANGES_MAX); count > 0; count--)
    stage.note(world.changeCatalogue());
  stage.announceCatalogue();
}
