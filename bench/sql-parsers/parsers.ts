import { createRequire } from 'node:module';
import { createGuest } from '../../clickhouse/guest/engine.ts';
import {
  createEngineParser,
  isProblem,
  type QueryParameters,
  type SqlParser,
} from '../../sandbox/judge/parser.ts';
import { loadFunctionCatalogue } from '../../sandbox/policy/policy.ts';
import { startBenchEngine } from '../support/bench-engine.ts';
import type { Workspace } from '../support/workspace.ts';

/** The third-party parser under measurement, as a gate would use it: text to tree, tree to tables, tree back to text. */

export const DIALECTS = [
  ...['Athena', 'BigQuery', 'DB2', 'FlinkSQL', 'Hive', 'MariaDB', 'MySQL', 'Noql', 'PostgresQL', 'Redshift'],
  ...['Snowflake', 'Sqlite', 'TransactSQL', 'Trino'],
] as const;

export interface ThirdPartyReading {
  /** The text that it would run: printed from the tree. Null where its own tree cannot be printed. */
  readonly regenerated: string | null;
}

/** Of scripts/tools, which `npm ci --prefix scripts/tools` installs: the part of its interface that is called here. */
interface ThirdParty {
  readonly Parser: new () => {
    parse(text: string, options: object): { readonly ast: ThirdPartyTree | readonly ThirdPartyTree[] };
    sqlify(ast: unknown, options: object): string;
  };
}
type ThirdPartyTree = { readonly type?: string };

const require = createRequire(new URL('../../scripts/tools/package.json', import.meta.url));
const parser = new (require('node-sql-parser') as ThirdParty).Parser();

/** Null where the dialect refuses the text, or does not see exactly one SELECT in it. */
export function readWith(dialect: string, text: string): ThirdPartyReading | null {
  const database = { database: dialect };
  try {
    const { ast } = parser.parse(text, database);
    const statements = Array.isArray(ast) ? ast : [ast];
    if (statements.length !== 1 || statements[0]?.type !== 'select') return null;
    return { regenerated: orNull(() => parser.sqlify(ast, database)) };
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

/** The product's own parser: the engine, asked as the guest. The workspace ends it. */
export async function openEngineParser(workspace: Workspace, name: string): Promise<SqlParser> {
  const engine = await startBenchEngine(workspace, name);
  const guest = createGuest(engine.access);
  workspace.defer(() => guest.close());
  return createEngineParser(guest);
}

/**
 * Whether two texts mean the same, decided by the engine: their unresolved query trees are equal. The tree shows tables, join
 * kinds, functions, constants, aliases, CTEs, windows and their frames; it shows neither FORMAT nor comments nor brackets, which
 * change nothing. Two spellings that only look different are taken as one: functions whose names the engine takes in any case,
 * and `count(*)` for `count()`.
 */
export type Fingerprint = (text: string, parameters: QueryParameters) => Promise<string | null>;

/** `count(DISTINCT x)` is shown as the name as it was written with a combinator behind it. */
const FUNCTION_NAME = /(function_name: )(\w+?)(Distinct)?(?=,)/;
const COUNT_ROWS = /\bcount\(\*\)/gi;

/** The fingerprint is null where the engine does not read the text. */
export function createFingerprint(parser: SqlParser): Fingerprint {
  const functions = loadFunctionCatalogue();
  const isAnyCase = (name: string): boolean =>
    [name, name.toLowerCase(), name.toUpperCase()].every((spelling) => functions.allows(spelling));
  const inOneCase = (name: string): string => (isAnyCase(name) ? name.toLowerCase() : name);
  return async (text, parameters) => {
    const lines = await parser.tree(text.replace(COUNT_ROWS, 'count()'), parameters);
    if (isProblem(lines)) return null;
    return lines
      .map((line) =>
        line.replace(
          FUNCTION_NAME,
          (_all, label: string, name: string, distinct = '') => label + inOneCase(name) + distinct,
        ),
      )
      .join('\n');
  };
}
