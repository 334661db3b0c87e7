import type { Writer } from '../../clickhouse/engine/engine.ts';
import { insertedTable } from '../../clickhouse/engine/guard.ts';

/**
 * Which tables this process writes to. Where it is the only writer, what depends on a table asks the engine after a write and not in every
 * second:
 *
 *   const { writer, writes } = watchWrites(deps.writer);
 *   const seen = writes.count(TABLES); // before the rows are read
 *   …
 *   await writes.after(seen, TABLES, { maxMs: 60_000, signal });
 */
export interface WriteWatch {
  /** Inserts into these tables so far, failed ones too: their rows may have landed. */
  count(tables: readonly string[]): number;
  /** Resolves once there are more than `seen`, or after `maxMs`. Rejects when the signal aborts. */
  after(
    seen: number,
    tables: readonly string[],
    wait: { readonly maxMs: number; readonly signal: AbortSignal },
  ): Promise<void>;
}

/** For a process that writes beside others: it sees no write, and waits for none. */
export const OTHERS_WRITE: WriteWatch = {
  count: () => 0,
  after: async (_seen, _tables, { signal }) => signal.throwIfAborted(),
};

/** The writer whose inserts are counted. Tables that views fill are not: name the table that the view reads. */
export function watchWrites(writer: Writer): { readonly writer: Writer; readonly writes: WriteWatch } {
  const counts = new Map<string, number>();
  const wakers = new Set<() => void>();
  const counted = async (table: string | undefined, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } finally {
      if (table !== undefined) {
        counts.set(table, (counts.get(table) ?? 0) + 1);
        for (const wake of wakers) wake();
      }
    }
  };
  const count: WriteWatch['count'] = (tables) =>
    tables.reduce((sum, table) => sum + (counts.get(table) ?? 0), 0);
  return {
    writer: {
      ...writer,
      run: (statement) => counted(insertedTable(statement.sql), () => writer.run(statement)),
      load: (statement, body) => counted(insertedTable(statement.sql), () => writer.load(statement, body)),
      insert: (name, table, columns, rowBinary, marks) =>
        counted(table, () => writer.insert(name, table, columns, rowBinary, marks)),
    },
    writes: {
      count,
      async after(seen, tables, { maxMs, signal }) {
        await new Promise<void>((resolve) => {
          const done = (): void => {
            clearTimeout(timer);
            wakers.delete(wake);
            signal.removeEventListener('abort', done);
            resolve();
          };
          const wake = (): void => {
            if (signal.aborted || count(tables) > seen) done();
          };
          const timer = setTimeout(done, maxMs);
          wakers.add(wake);
          signal.addEventListener('abort', done, { once: true });
          wake();
        });
        signal.throwIfAborted();
      },
    },
  };
}
