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
  return {
    one: (parameters) => {
      const row = statement.get(parameters);
      if (row === undefined) return undefined;
      // libsql adds its own `_metadata` to a single row.
      const { _metadata, ...columns } = row as Row & { readonly _metadata?: unknown };
      return columns as Row;
    },
    all: (parameters) => statement.all(parameters) as Row[],
    run: (parameters) => statement.run(parameters).changes,
  };
}
