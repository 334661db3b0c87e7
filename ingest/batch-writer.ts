import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Writer } from '../clickhouse/engine.ts';
import { DEAD_LETTER_COLUMNS, SETTLEMENT_COLUMNS } from '../clickhouse/schema.ts';
import type { Chain } from '../src/domain/chain.ts';
import type { Settlement } from '../src/domain/settlement.ts';
import type { Log } from '../src/log.ts';
import type { DeadLetter } from './stages/dead-letter.ts';
import { encodeDeadLetters, encodeSettlements } from './stages/encode.ts';
import { untilAcknowledged } from './until-acknowledged.ts';
import type { Versions } from './versions.ts';

/**
 * Gathers what several windows produced into inserts of the size the engine likes, and answers each window only when its rows
 * are acknowledged. Rows of one chain only, so that a stray insert can be told by its name. Memory is bounded by the callers:
 * each waits for its own rows, and there are only as many as windows are read at once.
 */
export interface BatchWriter {
  /** Resolves when all of it is acknowledged. Rejects only when the worker must stop. */
  write(settlements: readonly Settlement[], deadLetters: readonly DeadLetter[]): Promise<void>;
}

/** engine.md 3.1: 10k to 100k rows an insert; beyond that only memory grows. */
const ROWS_PER_INSERT_MAX = 50_000;
/** Rows encoded before other work gets a turn: about 5 ms. */
const ROWS_PER_ENCODE_SLICE = 5_000;

interface Pending {
  readonly settlements: readonly Settlement[];
  readonly deadLetters: readonly DeadLetter[];
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
  let draining = false;

  const drain = async (): Promise<void> => {
    draining = true;
    while (queue.length > 0) {
      const group = takeGroup(queue);
      try {
        await writeGroup(deps, group);
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    draining = false;
  };

  return {
    write(settlements, deadLetters) {
      if (settlements.length === 0 && deadLetters.length === 0) return Promise.resolve();
      return new Promise((resolve, reject) => {
        queue.push({ settlements, deadLetters, resolve, reject });
        if (!draining) void drain();
      });
    },
  };
}

/** While one insert is under way the next ones gather by themselves; the first caller never waits for company. */
function takeGroup(queue: Pending[]): Pending[] {
  const group: Pending[] = [];
  let rows = 0;
  while (queue[0] && (group.length === 0 || rows + queue[0].settlements.length <= ROWS_PER_INSERT_MAX)) {
    const next = queue.shift() as Pending; // queue[0] was just seen
    rows += next.settlements.length;
    group.push(next);
  }
  return group;
}

async function writeGroup(
  deps: Parameters<typeof createBatchWriter>[0],
  group: readonly Pending[],
): Promise<void> {
  const { chain, writer, versions, log, signal } = deps;
  const settlements = group.flatMap((pending) => pending.settlements);
  const deadLetters = group.flatMap((pending) => pending.deadLetters);
  await untilAcknowledged(log, signal, async () => {
    const ver = versions.next();
    if (settlements.length > 0) await insertSettlements(deps, settlements, ver);
    if (deadLetters.length > 0) {
      await writer.insert(`write-dead-letters ${chain}`, 'dead_letters', DEAD_LETTER_COLUMNS, [
        encodeDeadLetters(deadLetters, ver, 0),
      ]);
    }
  });
}

/** Encodes while the engine already reads the first rows: encoding is a fifth of the whole insert. */
async function insertSettlements(
  { chain, writer }: Pick<Parameters<typeof createBatchWriter>[0], 'chain' | 'writer'>,
  settlements: readonly Settlement[],
  ver: bigint,
): Promise<void> {
  let unencodable: unknown;
  async function* slices(): AsyncGenerator<Uint8Array> {
    try {
      for (let at = 0; at < settlements.length; at += ROWS_PER_ENCODE_SLICE) {
        yield encodeSettlements(settlements.slice(at, at + ROWS_PER_ENCODE_SLICE), ver, 0);
        await nextTurn();
      }
    } catch (error) {
      unencodable = error;
      throw error;
    }
  }
  try {
    await writer.insert(
      `write-settlements ${chain}`,
      'settlements',
      SETTLEMENT_COLUMNS,
      Readable.from(slices()),
    );
  } catch (error) {
    // A row that cannot be encoded breaks the connection; it must not be taken for an engine that went away.
    throw unencodable ?? error;
  }
}
