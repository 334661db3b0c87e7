import { Readable } from 'node:stream';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Guard, Writer } from '../clickhouse/engine.ts';
import {
  AGENT_EVENT_COLUMNS,
  ATTESTATION_COLUMNS,
  DEAD_LETTER_COLUMNS,
  SETTLEMENT_COLUMNS,
  TABLES,
} from '../clickhouse/schema.ts';
import type { Chain } from '../src/domain/chain.ts';
import type { Log } from '../src/log.ts';
import { GRADES_SCOPE } from './leases/fence.ts';
import { type BatchRows, countRows } from './stages/batch-rows.ts';
import { type Del, encodeDeadLetters, encodeSettlements } from './stages/encode.ts';
import { encodeAgentEvents, encodeAttestations } from './stages/encode-registry.ts';
import { untilAcknowledged } from './until-acknowledged.ts';
import type { Versions } from './versions.ts';

/**
 * Gathers what several windows produced into inserts of the size the engine likes, and answers each window only when its rows
 * are acknowledged. Rows of one chain only, so that a stray insert can be told by its name. Memory is bounded by the callers:
 * each waits for its own rows, and there are only as many as windows are read at once.
 */
export interface BatchWriter {
  /**
   * Resolves when all of it is acknowledged. `gradedBy` is the pass whose catalogue graded the rows, null where one process alone
   * grades. Rejects with `Overtaken` when they were graded by an outdated one, else only when the worker must stop. While
   * `isMoreComing` says so, the rows may wait for others, up to `GATHERED_MS_MAX`; without it they never do.
   */
  write(rows: BatchRows, gradedBy?: bigint | null, isMoreComing?: () => boolean): Promise<void>;
}

/** engine.md 3.1: 10k to 100k rows an insert; beyond that only memory grows. */
const ROWS_PER_INSERT_MAX = 50_000;
/** Callers that will soon bring more wait until this many are together, because each insert has a price of its own … */
const ROWS_PER_INSERT_WANTED = 12_000;
/** … but no longer than this after the insert before, so that the first rows of a backfill, and those of a sparse one, do not wait. */
const GATHERED_MS_MAX = 250;
/** Rows encoded before other work gets a turn: about 5 ms. */
const ROWS_PER_ENCODE_SLICE = 5_000;
/** Rows of registries hold texts of strangers, up to 67 KiB each: a slice stays below 20 MB whatever they wrote. */
const TEXT_ROWS_PER_ENCODE_SLICE = 250;

interface Pending {
  readonly rows: BatchRows;
  readonly gradedBy: bigint | null;
  readonly isMoreComing: () => boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export function createBatchWriter(deps: {
  readonly chain: Chain;
  readonly writer: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
}): BatchWriter {
  const queue: Pending[] = [];
  const arrivals = createArrivals();
  let draining = false;
  let endedMs = Number.NEGATIVE_INFINITY;

  const gather = async (): Promise<void> => {
    while (isWaitingForMore(queue)) {
      const leftMs = endedMs + GATHERED_MS_MAX - performance.now();
      if (leftMs <= 0) return;
      await Promise.race([arrivals.next(), delay(leftMs, undefined, { ref: false })]);
    }
  };
  const drain = async (): Promise<void> => {
    draining = true;
    while (queue.length > 0) {
      await gather();
      const group = takeGroup(queue);
      try {
        await writeGroup(deps, group);
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
      endedMs = performance.now();
    }
    draining = false;
  };

  return {
    write(rows, gradedBy = null, isMoreComing = () => false) {
      // Also one without rows may be the last that others wait for.
      if (countRows(rows) === 0) return Promise.resolve(arrivals.tell());
      return new Promise((resolve, reject) => {
        queue.push({ rows, gradedBy, isMoreComing, resolve, reject });
        arrivals.tell();
        if (!draining) void drain();
      });
    },
  };
}

/** Whether all who wait would rather wait for others that are still to come. */
function isWaitingForMore(queue: readonly Pending[]): boolean {
  const rows = queue.reduce((sum, pending) => sum + countRows(pending.rows), 0);
  return rows < ROWS_PER_INSERT_WANTED && queue.every(({ isMoreComing }) => isMoreComing());
}

/** Tells the one who waits that somebody came. */
function createArrivals(): { tell(): void; next(): Promise<void> } {
  let wake = (): void => undefined;
  return {
    tell: () => wake(),
    next: () =>
      new Promise((resolve) => {
        wake = resolve;
      }),
  };
}

/** While one insert is under way the next ones gather by themselves; the first caller never waits for company. */
function takeGroup(queue: Pending[]): Pending[] {
  const group: Pending[] = [];
  let rows = 0;
  const fits = (next: Pending): boolean =>
    group.length === 0 ||
    // One insert has one guard.
    (group[0]?.gradedBy === next.gradedBy && rows + countRows(next.rows) <= ROWS_PER_INSERT_MAX);
  while (queue[0] && fits(queue[0])) {
    const next = queue.shift() as Pending; // queue[0] was just seen
    rows += countRows(next.rows);
    group.push(next);
  }
  return group;
}

/** All tables of a window get one version; the window counts as written when the last of them is acknowledged. */
async function writeGroup(
  deps: Parameters<typeof createBatchWriter>[0],
  group: readonly Pending[],
): Promise<void> {
  const settlements = group.flatMap(({ rows }) => rows.settlements);
  const agentEvents = group.flatMap(({ rows }) => rows.agentEvents);
  const attestations = group.flatMap(({ rows }) => rows.attestations);
  const deadLetters = group.flatMap(({ rows }) => rows.deadLetters);
  const gradedBy = group[0]?.gradedBy ?? null;
  const guards: Guard[] = gradedBy === null ? [] : [{ scope: GRADES_SCOPE, token: gradedBy }];
  await untilAcknowledged(deps.log, deps.signal, async () => {
    const ver = deps.versions.next();
    await insertRows(deps, SETTLEMENTS, settlements, ver, guards);
    await insertRows(deps, AGENT_EVENTS, agentEvents, ver);
    await insertRows(deps, ATTESTATIONS, attestations, ver);
    await insertRows(deps, DEAD_LETTERS, deadLetters, ver);
  });
}

/** How the rows of a table are written. */
interface Target<Row> {
  readonly name: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly encode: (rows: readonly Row[], ver: bigint, del: Del) => Uint8Array;
  readonly rowsPerSlice: number;
}

const SETTLEMENTS: Target<BatchRows['settlements'][number]> = {
  name: 'write-settlements',
  table: TABLES.settlements,
  columns: SETTLEMENT_COLUMNS,
  encode: encodeSettlements,
  rowsPerSlice: ROWS_PER_ENCODE_SLICE,
};
const AGENT_EVENTS: Target<BatchRows['agentEvents'][number]> = {
  name: 'write-agent-events',
  table: TABLES.agentEvents,
  columns: AGENT_EVENT_COLUMNS,
  encode: encodeAgentEvents,
  rowsPerSlice: TEXT_ROWS_PER_ENCODE_SLICE,
};
const ATTESTATIONS: Target<BatchRows['attestations'][number]> = {
  name: 'write-attestations',
  table: TABLES.attestations,
  columns: ATTESTATION_COLUMNS,
  encode: encodeAttestations,
  rowsPerSlice: TEXT_ROWS_PER_ENCODE_SLICE,
};
const DEAD_LETTERS: Target<BatchRows['deadLetters'][number]> = {
  name: 'write-dead-letters',
  table: TABLES.deadLetters,
  columns: DEAD_LETTER_COLUMNS,
  encode: encodeDeadLetters,
  rowsPerSlice: TEXT_ROWS_PER_ENCODE_SLICE,
};

/** Encodes while the engine already reads the first rows: encoding is a fifth of the whole insert. */
async function insertRows<Row>(
  { chain, writer }: Pick<Parameters<typeof createBatchWriter>[0], 'chain' | 'writer'>,
  { name, table, columns, encode, rowsPerSlice }: Target<Row>,
  rows: readonly Row[],
  ver: bigint,
  guards: readonly Guard[] = [],
): Promise<void> {
  if (rows.length === 0) return;
  let unencodable: unknown;
  async function* slices(): AsyncGenerator<Uint8Array> {
    try {
      for (let at = 0; at < rows.length; at += rowsPerSlice) {
        yield encode(rows.slice(at, at + rowsPerSlice), ver, 0);
        await nextTurn();
      }
    } catch (error) {
      unencodable = error;
      throw error;
    }
  }
  try {
    await writer.insert(`${name} ${chain}`, table, columns, Readable.from(slices()), guards);
  } catch (error) {
    // A row that cannot be encoded breaks the connection; it must not be taken for an engine that went away.
    throw unencodable ?? error;
  }
}
