import { setImmediate as nextTurn } from 'node:timers/promises';
import { EngineError, type Writer } from '../../../clickhouse/engine/engine.ts';
import { trustedText } from '../../../clickhouse/engine/sql.ts';

/**
 * What goes wrong at one write of one process.
 * - die: the process ends before the write
 * - lose-ack: the write happens and the process ends before it learns so
 * - kill-engine: the engine is killed while the write is under way
 * - break-view: a view fails after the table took the rows (measured: `settlements` and sometimes `wallet_rows` are written,
 *   `hour_ver` is not)
 * - pause: the write waits, statement and version ready, while another process does its work
 */
export type FaultKind = 'die' | 'lose-ack' | 'kill-engine' | 'break-view' | 'pause';

export interface Fault {
  readonly kind: FaultKind;
  /** Writes that pass before; only statements with a name that begins with `only` count. */
  readonly after: number;
  readonly only: string;
  /** For `kill-engine`: how long the write is under way before. */
  readonly delayMs: number;
  /** For `pause`: the events during it. */
  readonly meanwhile: () => Promise<void>;
}

/** Ends a simulated process; no code may take it for a failure of the engine. */
export class SimulatedDeath extends Error {
  constructor() {
    super('the simulated process is dead');
    this.name = 'SimulatedDeath';
  }
}

export interface FaultyWriter extends Writer {
  /** Another writer of the same process: they die together, but each has faults of its own. */
  sibling(): FaultyWriter;
  /** The next fault; null: none any more. */
  arm(fault: Fault | null): void;
}

/** Creates a view on `settlements` that lets no row through; its own table takes nothing. */
const BREAK = 'CREATE MATERIALIZED VIEW broken_view ENGINE = Null AS SELECT throwIf(1) AS x FROM settlements';
const MEND = 'DROP VIEW IF EXISTS broken_view';
/** FUNCTION_THROW_IF_VALUE_IS_NON_ZERO; and UNKNOWN_TABLE, of an insert that began before the view was dropped. */
const CODES_OF_BROKEN_VIEW: ReadonlySet<number> = new Set([395, 60]);
const DDL_MAX_SECONDS = 10;

/**
 * The writer of one simulated process: after its death every call fails, as nothing comes from a dead process. `onFault` hears of
 * each fault that has happened.
 */
export function createFaultyWriter(
  inner: Writer,
  world: { readonly killEngine: () => Promise<void>; readonly onFault: (kind: FaultKind) => void },
  process = { isDead: false },
): FaultyWriter {
  const { killEngine, onFault } = world;
  let armed: Fault | null = null;
  let writesLeft = 0;
  /** Other writes of the process meet the same broken view. */
  let isBroken = false;

  const arm = (fault: Fault | null): void => {
    armed = fault;
    writesLeft = fault?.after ?? 0;
  };
  const die = (): never => {
    process.isDead = true;
    throw new SimulatedDeath();
  };
  const write = async (name: string, perform: () => Promise<void>): Promise<void> => {
    if (process.isDead) die();
    try {
      await writeWithFaults(name, perform);
    } catch (error) {
      // Whatever else writes while the view is broken meets it too, also in another process.
      if (error instanceof EngineError && CODES_OF_BROKEN_VIEW.has(error.engineCode ?? 0))
        onFault('break-view');
      throw error;
    }
  };
  const writeWithFaults = async (name: string, perform: () => Promise<void>): Promise<void> => {
    if (armed === null || !name.startsWith(armed.only) || writesLeft-- > 0) return perform();
    if (armed.kind === 'break-view') return isBroken ? perform() : breakView(perform);
    const { kind, delayMs, meanwhile } = armed;
    arm(null);
    onFault(kind);
    if (kind === 'die') die();
    if (kind === 'pause') await meanwhile();
    if (kind === 'kill-engine') return killDuring(perform, delayMs);
    await perform();
    if (kind === 'lose-ack') die();
  };
  const killDuring = async (perform: () => Promise<void>, delayMs: number): Promise<void> => {
    const writing = perform();
    writing.catch(() => undefined); // awaited below
    for (const began = performance.now(); performance.now() - began < delayMs; ) await nextTurn();
    await killEngine();
    await writing;
  };
  /** Stays armed over writes to other tables, which feed no view. */
  const breakView = async (perform: () => Promise<void>): Promise<void> => {
    const ddl = (statement: string) =>
      inner.run({ name: 'break-view', sql: trustedText(statement), maxSeconds: DDL_MAX_SECONDS });
    isBroken = true;
    await ddl(BREAK);
    try {
      await perform();
    } catch (error) {
      arm(null);
      throw error;
    } finally {
      await ddl(MEND);
      isBroken = false;
    }
  };
  return {
    ...inner,
    rows(statement, signal) {
      return process.isDead ? Promise.reject(new SimulatedDeath()) : inner.rows(statement, signal);
    },
    run: (statement) => write(statement.name, () => inner.run(statement)),
    insert: (name, ...insert) => write(name, () => inner.insert(name, ...insert)),
    arm,
    sibling: () => createFaultyWriter(inner, world, process),
  };
}
