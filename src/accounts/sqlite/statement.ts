import type Database from 'libsql';

/**
 * Named parameters only, everywhere: libsql 0.5.29 ends the whole process (a Rust panic) when an object, or a lone null, is
 * bound to a statement with positional ones.
 */
export type Parameters = Readonly<Record<string, unknown>>;

/** A prepared statement. Parameters that it does not name are ignored; one that is left out is NULL. */
export interface Statement<Row> {
  one(parameters: Parameters): Row | undefined;
  all(parameters: Parameters): Row[];
  /** Runs it and says how many rows it changed. */
  run(parameters: Parameters): number;
}

/** `Row` is what the columns of `text` spell; the tables are STRICT, so their types hold. */
export function prepare<Row = never>(db: Database.Database, text: string): Statement<Row> {
  const statement = db.prepare<Parameters>(text);
  // libsql makes lists of values several times faster than objects.
  const names = statement.reader
    ? statement
        .raw()
        .columns()
        .map(({ name }) => name)
    : [];
  return {
    one(parameters) {
      const values = statement.get(parameters);
      return values === undefined ? undefined : rowOf<Row>(names, values);
    },
    all: (parameters) => statement.all(parameters).map((values) => rowOf<Row>(names, values)),
    run: (parameters) => statement.run(parameters).changes,
  };
}

function rowOf<Row>(names: readonly string[], values: unknown): Row {
  const row: Record<string, unknown> = {};
  // In raw mode a row is the list of its values.
  for (const [index, value] of (values as readonly unknown[]).entries()) row[names[index] ?? ''] = value;
  return row as Row;
}
