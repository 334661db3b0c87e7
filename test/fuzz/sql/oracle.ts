import { publicDatabaseOf } from '../../../clickhouse/engine/databases.ts';
import type { Writer } from '../../../clickhouse/engine/engine.ts';
import { text as asText, sql } from '../../../clickhouse/engine/sql.ts';
import { PUBLIC_TABLE_NAMES } from '../../../core/domain/public-tables.ts';
import type { FuzzEngine, RunOutcome } from './fuzz-engine.ts';
import { reviewedFunctions } from './vocabulary.ts';

/**
 * What an accepted text really did, by the engine's own log of it: the functions that it looked up, the tables and columns that
 * it read, the rights that it lacked. Nothing of sandbox/ takes part but the reviewed list of functions, read as data.
 */

export interface Used {
  readonly queryId: string;
  readonly tables: readonly string[];
  readonly columns: readonly string[];
  readonly functions: readonly string[];
  readonly tableFunctions: readonly string[];
  /** Types that were looked up by their names. */
  readonly types: readonly string[];
  readonly missingPrivileges: readonly string[];
}

/** Why a text should not have been accepted, in a stable word and in detail. */
export interface Violation {
  readonly rule: ViolationRule;
  readonly detail: string;
}

export type ViolationRule =
  | 'inspect-throws'
  | 'inspect-slow'
  | 'not-a-fixed-point'
  | 'engine-down'
  | 'refused-by-the-engine'
  | 'foreign-table'
  | 'hidden-column'
  | 'foreign-function'
  | 'foreign-table-function'
  | 'settings'
  | 'state-type'
  | 'secret-leaked'
  | 'not-logged';

/**
 * Errors that the first wall exists to prevent: a name or a clause that is not for callers got as far as the engine.
 * READONLY, INTO_OUTFILE_NOT_ALLOWED, ACCESS_DENIED, UNKNOWN_DATABASE.
 */
const SECOND_WALL_CODES: ReadonlySet<number | null> = new Set([164, 358, 497, 81]);
/** Of the statement, not of a type or a structure that a text spells. */
const STATEMENT_SYNTAX = /^Syntax error(?: \(Multi-statements[^)]*\))?: failed at position/;
/** A type of internal states, by its name: its values are bytes that the engine would take for its own. */
const STATE_TYPE = /AggregateFunction/;
/** Table functions that read nothing, spelled out here a second time, in lower case. */
const TABLE_FUNCTIONS = new Set(['numbers', 'values', 'generateseries', 'generate_series']);
/**
 * Functions that planning adds by itself, such as `__getScalar`, and that of the column `amount` of `wallet_rows`, which is an alias; in a text they
 * would be the caller's.
 */
const ADDED_BY_ENGINE = /^(__\w+|getSubcolumn|reinterpret)$/;
/** What recursion and GLOBAL IN keep their rows in. */
const TEMPORARY_TABLE = /^_temporary_and_external_tables\.`_(tmp|data)_[0-9a-f_-]+`$/;
/** Read by a query without FROM. */
const NO_TABLE = 'system.one';
/** Never, whatever the reviewed list says. */
const NEVER =
  /^(file|sleep\w*|joinGet\w*|dictGet\w*|getSetting\w*|getServerSetting|getMacro|hostName|FQDN|serverUUID|version|currentUser|currentDatabase|currentRoles|hasColumnInTable|addressTo\w*|demangle|logTrace|throwIf|aggThrow|catboost\w*|filesystem\w*|globalVariable|evalMLMethod)$/i;

export async function readLog(writer: Writer, idPrefix: string): Promise<ReadonlyMap<string, Used>> {
  await writer.run({ name: 'fuzz-flush', sql: sql`SYSTEM FLUSH LOGS query_log`, maxSeconds: 30 });
  const { rows } = await writer.rows({
    name: 'fuzz-log',
    sql: sql`SELECT query_id, tables, columns, arrayConcat(used_functions, used_aggregate_functions), used_table_functions, used_data_type_families, missing_privileges
FROM system.query_log WHERE event_time > now() - 600 AND startsWith(query_id, ${asText(idPrefix)}) AND type != 'QueryStart'`,
    maxSeconds: 30,
    maxRows: 100_000,
  });
  const lists = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
  return new Map(
    rows.map(([queryId, tables, columns, functions, tableFunctions, types, missing]) => [
      String(queryId),
      {
        queryId: String(queryId),
        tables: lists(tables),
        columns: lists(columns),
        functions: lists(functions),
        tableFunctions: lists(tableFunctions),
        types: lists(types),
        missingPrivileges: lists(missing),
      },
    ]),
  );
}

export type Oracle = (accepted: {
  readonly text: string;
  readonly outcome: RunOutcome;
  readonly used: Used | undefined;
}) => Violation[];

export function createOracle({ database, secrets }: Pick<FuzzEngine, 'database' | 'secrets'>): Oracle {
  const functions = new Set(reviewedFunctions().allowed.map(({ name }) => name.toLowerCase()));
  const publicDatabase = publicDatabaseOf(database);
  const tables = new Set<string>(PUBLIC_TABLE_NAMES.map((name) => `${publicDatabase}.${name}`));
  const isOurs = (table: string): boolean => {
    const [, made] = /^_table_function\.`?(\w+)`?$/.exec(table) ?? [];
    if (made !== undefined) return TABLE_FUNCTIONS.has(made.toLowerCase());
    return tables.has(table) || table === NO_TABLE || TEMPORARY_TABLE.test(table);
  };
  const mayUse = (name: string, text: string): boolean => {
    if (ADDED_BY_ENGINE.test(name)) return !text.toLowerCase().includes(name.toLowerCase());
    return !NEVER.test(name) && functions.has(name.toLowerCase());
  };
  return ({ text, outcome, used }) => {
    const found = outcomeViolations(text, outcome, [...secrets, database]);
    // What was stopped may not have begun.
    if (used === undefined && outcome.code === null) return found;
    if (used === undefined)
      return [
        ...found,
        { rule: 'not-logged', detail: `the engine has no log of it, and answered with code ${outcome.code}` },
      ];
    const each = (rule: ViolationRule, names: readonly string[]): Violation[] =>
      names.map((detail) => ({ rule, detail }));
    return [
      ...found,
      ...each('refused-by-the-engine', used.missingPrivileges),
      ...each(
        'foreign-table',
        used.tables.filter((name) => !isOurs(name)),
      ),
      ...each(
        'hidden-column',
        used.columns.filter((name) => name.startsWith(`${publicDatabase}.`) && /\._\w+$/.test(name)),
      ),
      ...each(
        'foreign-function',
        used.functions.filter((name) => !mayUse(name, text)),
      ),
      ...each(
        'state-type',
        used.types.filter((name) => STATE_TYPE.test(name)),
      ),
      ...each(
        'foreign-table-function',
        used.tableFunctions.filter((name) => !TABLE_FUNCTIONS.has(name.toLowerCase())),
      ),
    ];
  };
}

function outcomeViolations(
  text: string,
  { code, answer }: RunOutcome,
  secrets: readonly string[],
): Violation[] {
  if (SECOND_WALL_CODES.has(code) || STATEMENT_SYNTAX.test(answer))
    return [{ rule: 'refused-by-the-engine', detail: answer.slice(0, 200) }];
  // The engine's own words name its version and databases; an answer of rows may not, unless the text spelled it.
  const leaked = secrets.find((secret) => answer.includes(secret) && !text.includes(secret));
  if (leaked === undefined || (code !== 0 && !leaked.startsWith('canary'))) return [];
  return [{ rule: 'secret-leaked', detail: `the answer holds ${leaked}` }];
}
