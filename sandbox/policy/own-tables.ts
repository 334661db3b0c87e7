import { OWN_DATABASE, type OwnTableFacts } from '../../core/domain/own-table.ts';

/**
 * Tables of the caller's organization. Their rows are in no database of the engine: a statement gets those tables that its text names as
 * data of its own request (the engine's external data), so that no text can reach a table of another organization. A name with a random
 * id takes the place of `my.<name>`, so that every cache that knows texts keeps the tables of two organizations apart as well
 * (docs/design/sandbox.md).
 */
export interface OwnTable extends OwnTableFacts {
  readonly name: string;
  /** Another one for each upload. */
  readonly id: string;
  /** The rows in the engine's Native form; null where the table was replaced or removed since. */
  read(): Promise<Buffer | null>;
}

/** By the names under which the engine gets them. */
export type OwnTables = ReadonlyMap<string, OwnTable>;

export const NO_OWN_TABLES: OwnTables = new Map();

/** Whether a text or a value of its parameters can name an own table. */
export function mayNameOwn(text: string, parameters: Readonly<Record<string, string>>): boolean {
  return [text, ...Object.values(parameters)].some((one) => one.includes(OWN_DATABASE));
}
