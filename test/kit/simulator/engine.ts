import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedEngine, startEmbeddedEngine } from '../../../clickhouse/embedded/supervisor.ts';
import type { Reader, Writer } from '../../../clickhouse/engine/engine.ts';
import { createReader, createWriter } from '../../../clickhouse/engine/http-engine.ts';
import { migrate } from '../../../clickhouse/migrate/migrate.ts';
import { createLog } from '../../../core/log.ts';

/** A real engine of its own, killed with SIGKILL as often as wanted; its ports stay usable across restarts. */
export interface KillableEngine {
  readonly writer: Writer;
  readonly reader: Reader;
  /** How many writes have ended, well or not, and how many restarts: while it stays the same a read finds nothing new. */
  changes(): number;
  /** Kills it now and resolves when it is back. */
  kill(): Promise<void>;
  /** Resolves when no restart is under way. */
  settled(): Promise<void>;
  /** Stops it and removes its data. */
  remove(): Promise<void>;
}

const MEMORY_MEGABYTES = 1024;

interface Running {
  readonly engine: EmbeddedEngine;
  readonly writer: Writer;
  readonly reader: Reader;
}

/**
 * Not the supervisor's own restarts: their back-off, right for an engine that dies by itself, would grow to 10 s under kills that
 * follow each other in seconds.
 */
export async function startKillableEngine(): Promise<KillableEngine> {
  const dataDir = await mkdtemp(join(tmpdir(), 'settlement-index-sim-'));
  const log = createLog('fatal', 'simulated-engine');
  const start = async (): Promise<Running> => {
    const engine = await startEmbeddedEngine({
      dataDir,
      database: 'app',
      maxMemoryMegabytes: MEMORY_MEGABYTES,
      log,
    });
    return { engine, writer: createWriter(engine.access, log), reader: createReader(engine.access, log) };
  };
  const close = ({ writer, reader }: Running) => Promise.all([writer.close(), reader.close()]);

  let running = await start();
  await migrate(running.engine.access, log);
  let restarting: Promise<void> = Promise.resolve();
  let changes = 0;
  const changed = (): void => {
    changes += 1;
  };

  const restart = async (): Promise<void> => {
    const dead = running;
    const pid = dead.engine.pid();
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
    await dead.engine.stop();
    running = await start();
    await close(dead);
    changed();
  };
  return {
    writer: countingWrites(
      following(() => running.writer),
      changed,
    ),
    reader: following(() => running.reader),
    changes: () => changes,
    kill() {
      restarting = restarting.then(restart);
      return restarting;
    },
    settled: () => restarting,
    async remove() {
      await restarting;
      await close(running);
      await running.engine.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function countingWrites(writer: Writer, ended: () => void): Writer {
  return {
    ...writer,
    run: (statement) => writer.run(statement).finally(ended),
    insert: (...insert) => writer.insert(...insert).finally(ended),
  };
}

/** Sends every call to whatever is current; a call made during a restart fails as it would in production. */
function following<Port extends Reader>(current: () => Port): Port {
  const names = Object.keys(current());
  const calls = names.map((name): [string, unknown] => [
    name,
    (...args: readonly unknown[]): unknown =>
      Reflect.apply(Reflect.get(current(), name) as () => unknown, undefined, [...args]),
  ]);
  return { ...Object.fromEntries(calls), close: () => Promise.resolve() } as Port; // the same names as the port's
}

/** However unlikely, something may have changed that no count tells of. */
const LOOK_ANYWAY_MS = 500;
/** A process at work changes something every few milliseconds: looking each time would take as much of the machine as its work. */
const LOOK_EVERY_MS = 150;

/**
 * A look at the database, for a loop that waits until it is true: while `changes` stays the same a look that was in vain is not
 * taken again, and counts as false. Looking a hundred times a second would take the machine from the work that is waited for.
 */
export function freshLooks(changes: () => number, look: () => Promise<boolean>): () => Promise<boolean> {
  let inVain: { readonly at: number; readonly sinceMs: number } | null = null;
  return async () => {
    const at = changes();
    if (inVain !== null) {
      const restMs = inVain.at === at ? LOOK_ANYWAY_MS : LOOK_EVERY_MS;
      if (performance.now() - inVain.sinceMs < restMs) return false;
    }
    const found = await look();
    inVain = found ? null : { at, sinceMs: performance.now() };
    return found;
  };
}
