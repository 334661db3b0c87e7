import type { Reader } from '../../clickhouse/engine/engine.ts';

/** A reader that notes the statements whose names begin with `prefix`, and holds the one that makes them `holdFrom` until `goOn`. */
export interface HeldReader {
  readonly reader: Reader;
  /** Names, in the order in which they were asked. */
  readonly asked: readonly string[];
  goOn(): void;
}

export function heldReader(over: Reader, prefix: string, holdFrom: number): HeldReader {
  const asked: string[] = [];
  let goOn = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const reader: Reader = {
    ...over,
    rows: async (statement, signal) => {
      if (statement.name.startsWith(prefix) && asked.push(statement.name) === holdFrom) await held;
      return over.rows(statement, signal);
    },
  };
  return { reader, asked, goOn: () => goOn() };
}
