import { freshLooks, type KillableEngine } from './engine.ts';
import { createFaultyWriter, type Fault, type FaultKind, type FaultyWriter } from './faulty-writer.ts';
import { eventually, isCaughtUp, rollUp, type SimulatedIngest, startSimulatedIngest } from './processes.ts';
import type { SimulatedWorld } from './world.ts';

/** The processes of the simulation, and the book of what was done to them. */
export interface Stage {
  readonly world: SimulatedWorld;
  begin(): void;
  end(): void;
  /** Writes down what happens; a fault makes the step count. */
  note(what: string, isFault?: boolean): void;
  /** What happened in this step. */
  done(): readonly string[];
  report(): FaultReport;
  /** Arms the chain followers, or the regrading, of the running ingest process. */
  armIngest(fault: Fault | null): void;
  armRegrade(fault: Fault | null): void;
  restartIngest(): Promise<void>;
  stopIngest(): Promise<void>;
  /** Resolves when every chain is indexed to its head, restarting the process whenever a fault has ended it. */
  indexed(): Promise<void>;
  /** The same, and every row follows the catalogue; disarms everything. */
  recovered(): Promise<void>;
  /** Resolves when the running process follows the catalogue, or has ended. */
  followed(): Promise<void>;
  /** Tells the running process of a changed catalogue. */
  announceCatalogue(): void;
  /** A rollup process that ends when nothing is dirty, or by its fault. */
  rollUp(fault: Fault | null): Promise<void>;
}

export type FaultReport = Readonly<Record<string, number>>;

export function createStage(world: SimulatedWorld, engine: KillableEngine): Stage {
  const book = createBook();
  const newProcess = (): FaultyWriter =>
    createFaultyWriter(engine.writer, {
      killEngine: () => engine.kill(),
      onFault: (kind: FaultKind) => book.note(kind, true),
    });
  let ingest: {
    readonly run: SimulatedIngest;
    readonly writer: FaultyWriter;
    readonly regrader: FaultyWriter;
  } | null = null;
  const wanted = () => world.catalogue().product;

  const restartIngest = async (): Promise<void> => {
    await ingest?.run.stop();
    const writer = newProcess();
    const regrader = writer.sibling();
    const run = startSimulatedIngest({ chains: world.chains, catalogue: wanted(), writer, regrader });
    ingest = { run, writer, regrader };
  };
  const areCaughtUp = freshLooks(engine.changes, async () => {
    const each = await Promise.all(world.chains.map((chain) => isCaughtUp(engine.writer, chain, wanted())));
    return each.every(Boolean);
  });
  const isIndexed = async (): Promise<boolean> => {
    const ended = ingest?.run.ended();
    if (ingest === null || ended) {
      if (ended && !book.hadFault()) throw new Error('the process ended by itself', { cause: ended.error });
      await restartIngest();
      return false;
    }
    return areCaughtUp();
  };
  const indexed = () => eventually('every chain is indexed to its head', isIndexed);
  return {
    world,
    ...book,
    armIngest: (fault) => ingest?.writer.arm(fault),
    armRegrade: (fault) => ingest?.regrader.arm(fault),
    restartIngest,
    stopIngest: async () => ingest?.run.stop(),
    indexed,
    async recovered() {
      const isRecovered = async () => (await isIndexed()) && (ingest?.run.follows(wanted()) ?? false);
      await eventually('every chain is indexed and graded', isRecovered);
      ingest?.writer.arm(null);
      ingest?.regrader.arm(null);
      await engine.settled();
    },
    followed: () =>
      eventually('the running process follows the catalogue', async () => {
        return ingest === null || ingest.run.ended() !== null || ingest.run.follows(wanted());
      }),
    announceCatalogue: () => ingest?.run.want(wanted()),
    rollUp(fault) {
      const writer = newProcess();
      writer.arm(fault);
      return rollUp(writer, engine);
    },
  };
}

type Book = Pick<Stage, 'begin' | 'end' | 'note' | 'done' | 'report'> & { hadFault(): boolean };

function createBook(): Book {
  const counts: Record<string, number> = {};
  let done: string[] = [];
  let hadFault = false;
  const count = (what: string): void => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  return {
    begin() {
      done = [];
      hadFault = false;
    },
    end() {
      count('steps');
      if (hadFault) count('steps with a fault');
    },
    note(what, isFault = false) {
      done.push(what);
      hadFault ||= isFault;
      if (isFault) count(what.split(':')[0] ?? what);
    },
    done: () => done,
    report: () => counts,
    hadFault: () => hadFault,
  };
}
