import nodeSqlParser from 'node-sql-parser';

/** The third-party parser under measurement, as a gate would use it: text to tree, tree to tables, tree back to text. */

export const DIALECTS = [
  ...['Athena', 'BigQuery', 'DB2', 'FlinkSQL', 'Hive', 'MariaDB', 'MySQL', 'Noql', 'PostgresQL', 'Redshift'],
  ...['Snowflake', 'Sqlite', 'TransactSQL', 'Trino'],
] as const;

export interface ThirdPartyReading {
  /** The tables that a gate would compare with its public ones: `select::database::table`. */
  readonly tables: readonly string[];
  /** The text that it would run: printed from the tree. Null where its own tree cannot be printed. */
  readonly regenerated: string | null;
}

const parser = new nodeSqlParser.Parser();

/** Null where the dialect refuses the text, or does not see exactly one SELECT in it. */
export function readWith(dialect: string, text: string): ThirdPartyReading | null {
  const database = { database: dialect };
  try {
    const { ast, tableList } = parser.parse(text, database);
    const statements = Array.isArray(ast) ? ast : [ast];
    if (statements.length !== 1 || statements[0]?.type !== 'select') return null;
    return { tables: tableList, regenerated: orNull(() => parser.sqlify(ast, database)) };
  } catch {
    return null; // it throws a syntax error for a text that it cannot read, and sometimes a TypeError
  }
}

function orNull<T>(make: () => T): T | null {
  try {
    return make();
  } catch {
    return null;
  }
}
