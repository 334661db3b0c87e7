import { quoted } from '../../clickhouse/catalogue/rows.ts';
import type { Token } from '../judge/parser.ts';
import { refuse } from '../judge/refusal.ts';
import { catalogueTable, isDatabase, isPublicTable, refuseTable, type Session, schemaOf } from './select.ts';
import { type CatalogueStatement, checkSetting, isName, isWord, plain, settingsIn } from './words.ts';

/**
 * SHOW, DESCRIBE, EXISTS, USE and SET as SELECTs over the views of the catalogue, with the column names of ClickHouse. They are judged
 * like the SELECTs that clients write themselves: a LIKE or WHERE of the caller is part of them.
 */
export type Answer =
  | { readonly select: string }
  /** DESCRIBE of a query: the columns of this text, which is still to be judged. */
  | { readonly describe: string }
  /** A statement without a result. */
  | 'nothing';

/** The statements that are no SELECT and that the catalogue answers. */
export const FIRST_WORDS = ['SHOW', 'DESCRIBE', 'EXISTS', 'USE', 'SET'] as const;

/** `written`: what the caller sent; the engine's canonical text leaves the word FULL out of SHOW FULL TABLES. */
export function statementAnswer(
  statement: CatalogueStatement,
  written: readonly Token[],
  session: Session,
): Answer {
  const [first, ...rest] = statement.tokens;
  switch (first?.text) {
    case 'SHOW':
      return { select: shown(statement, rest, written, session) };
    case 'DESCRIBE':
      return described(statement, session);
    case 'EXISTS':
      return { select: `SELECT toUInt8(${existing(rest, session) ? 1 : 0}) AS result` };
    case 'USE':
      return used(plain(rest[0]));
    default:
      return set(rest);
  }
}

function shown(
  statement: CatalogueStatement,
  rest: readonly Token[],
  written: readonly Token[],
  session: Session,
): string {
  const words = rest.filter((token) => !isWord(token, 'FULL', 'EXTENDED', 'TEMPORARY', 'CHANGED'));
  const isFull = written.slice(0, 3).some(({ text }) => /^full$/i.test(text));
  const [what, ...after] = words;
  const end = (column: string, from: readonly Token[], order = column): string =>
    conditionOf(statement, from, { column, order });
  switch (what?.text) {
    case 'DATABASES':
      return `SELECT name FROM system_databases${end('name', after)}`;
    case 'TABLES':
      return tables({ statement, after, isFull, session, isTemporary: isWord(rest[0], 'TEMPORARY') });
    case 'COLUMNS':
      return columns({ statement, after, isFull, session });
    case 'CREATE':
      return created(after, session);
    case 'FUNCTIONS':
      return `SELECT * FROM system_functions${end('name', after)}`;
    case 'SETTINGS':
      return `SELECT name, type, value FROM system_settings${end('name', after)}`;
    case 'SETTING':
      return `SELECT value FROM system_settings WHERE name = ${quoted(plain(after[0]))}`;
    case 'ENGINES':
      return 'SELECT * FROM system_table_engines ORDER BY name';
    case 'CLUSTERS':
      return `SELECT DISTINCT cluster FROM system_clusters${end('cluster', after)}`;
    case 'DICTIONARIES':
      return 'SELECT name FROM system_dictionaries ORDER BY name';
    case 'INDEXES':
      return 'SELECT table, name AS key_name, type AS index_type, expr AS expression FROM system_data_skipping_indices';
    case 'PROCESSLIST':
      return 'SELECT toFloat64(0) AS elapsed, name AS query_id, name AS query, name AS user FROM system_dictionaries';
    default:
      return refuse('not_select', {
        near: 'SHOW',
        detail: `SHOW ${what?.text ?? ''} is not answered here.`,
        hint: 'SHOW lists DATABASES, TABLES, COLUMNS, FUNCTIONS, SETTINGS, ENGINES, CLUSTERS, and shows CREATE TABLE.',
      });
  }
}

/** `[NOT] LIKE|ILIKE text`, `WHERE expression` and `LIMIT number`, as the engine prints them. */
function conditionOf(
  { text }: CatalogueStatement,
  from: readonly Token[],
  {
    column,
    order,
    where = [],
  }: { readonly column: string; readonly order: string; readonly where?: readonly string[] },
): string {
  const bytes = Buffer.from(text);
  const limitAt = from.findLastIndex((token) => isWord(token, 'LIMIT'));
  const [conditions, limit] = limitAt < 0 ? [from, []] : [from.slice(0, limitAt), from.slice(limitAt)];
  const [first] = conditions;
  const until = limit[0]?.at ?? bytes.length;
  const written = first === undefined ? '' : bytes.subarray(first.at, until).toString('utf8').trim();
  const own = isWord(first, 'WHERE') ? [`(${written.slice('WHERE '.length)})`] : likeOf(written, column);
  const all = [...where, ...own];
  const limited = limit.length === 0 ? '' : ` ${bytes.subarray(until).toString('utf8')}`;
  return `${all.length === 0 ? '' : ` WHERE ${all.join(' AND ')}`} ORDER BY ${order}${limited}`;
}

function likeOf(written: string, column: string): string[] {
  return written === '' ? [] : [`${column} ${written}`];
}

interface Listing {
  readonly statement: CatalogueStatement;
  readonly after: readonly Token[];
  readonly isFull: boolean;
  readonly session: Session;
}

function tables({
  statement,
  after,
  isFull,
  session,
  isTemporary,
}: Listing & { readonly isTemporary: boolean }): string {
  const isFrom = isWord(after[0], 'FROM', 'IN');
  const database = isFrom ? plain(after[1]) : session.database;
  checkDatabase(database);
  const where = [
    `database = ${quoted(schemaOf(database) ?? database)}`,
    ...(isTemporary ? ['is_temporary = 1'] : []),
  ];
  const shown = isFull ? "name, if(engine = 'View', 'VIEW', 'SYSTEM VIEW') AS table_type" : 'name';
  const rest = isFrom ? after.slice(2) : after;
  return `SELECT ${shown} FROM system_tables${conditionOf(statement, rest, { column: 'name', order: 'name', where })}`;
}

function columns({ statement, after, isFull, session }: Listing): string {
  const { database, name, rest } = nameAt(after.slice(1), session.database);
  const isFrom = isWord(rest[0], 'FROM', 'IN');
  const ofDatabase = isFrom ? plain(rest[1]) : database;
  const table = knownTable(ofDatabase, name);
  const where = [`database = ${quoted(table.database)}`, `table = ${quoted(table.name)}`];
  const full = isFull
    ? ", CAST(NULL, 'Nullable(String)') AS collation, comment, CAST('select', 'String') AS privileges"
    : '';
  return `SELECT name AS field, type, if(position(type, 'Nullable(') > 0, 'YES', 'NO') AS \`null\`, if(is_in_primary_key = 1, 'PRI', '') AS key, CAST(NULL, 'Nullable(String)') AS default, '' AS extra${full} FROM system_columns${conditionOf(
    statement,
    isFrom ? rest.slice(2) : rest,
    { column: 'name', order: 'position', where },
  )}`;
}

function created(after: readonly Token[], session: Session): string {
  const [kind, ...named] = after;
  if (isWord(kind, 'DATABASE')) {
    const database = plain(named[0]);
    checkDatabase(database);
    return `SELECT concat('CREATE DATABASE ', name, '\\nENGINE = ', engine) AS statement FROM system_databases WHERE name = ${quoted(schemaOf(database) ?? database)}`;
  }
  if (!isWord(kind, 'TABLE', 'VIEW')) refuseStatement(`SHOW CREATE ${kind?.text ?? ''}`);
  const { database, name } = nameAt(named, session.database);
  const table = knownTable(database, name);
  return `SELECT create_table_query AS statement FROM system_tables WHERE database = ${quoted(table.database)} AND name = ${quoted(table.name)}`;
}

function described({ text, tokens }: CatalogueStatement, session: Session): Answer {
  const named = tokens.slice(isWord(tokens[1], 'TABLE') ? 2 : 1);
  const [open] = named;
  if (open?.text === '(') {
    const close = named.at(-1);
    if (close?.text !== ')') refuseStatement('DESCRIBE');
    return {
      describe: Buffer.from(text)
        .subarray(open.at + 1, close?.at)
        .toString('utf8'),
    };
  }
  const { database, name, rest } = nameAt(named, session.database);
  if (rest.length > 0) refuseStatement('DESCRIBE of anything but a table or a query');
  const table = knownTable(database, name);
  return {
    select: `SELECT name, type, default_kind AS default_type, default_expression, comment, compression_codec AS codec_expression, '' AS ttl_expression FROM system_columns WHERE database = ${quoted(table.database)} AND table = ${quoted(table.name)} ORDER BY position`,
  };
}

/** The answer to DESCRIBE of a query, from the rows that the engine gave. */
export function describedRows(rows: readonly (readonly unknown[])[]): string {
  const listed = rows.map(
    (row) =>
      `(${row
        .slice(0, 2)
        .map((value) => quoted(String(value)))
        .join(', ')})`,
  );
  return `SELECT row.1 AS name, row.2 AS type, '' AS default_type, '' AS default_expression, '' AS comment, '' AS codec_expression, '' AS ttl_expression FROM (SELECT arrayJoin([${listed.join(', ')}]) AS row)`;
}

function existing(rest: readonly Token[], session: Session): boolean {
  const [kind, ...named] = rest.filter((token) => !isWord(token, 'TEMPORARY'));
  if (isWord(kind, 'DATABASE')) return isDatabase(plain(named[0]));
  if (!isWord(kind, 'TABLE', 'VIEW')) return false;
  const { database, name } = nameAt(named, session.database);
  return tableOf(database, name) !== undefined;
}

function used(database: string): Answer {
  checkDatabase(database);
  return 'nothing';
}

function set(rest: readonly Token[]): Answer {
  // Roles do not exist here; clients reset theirs before a connection is reused.
  if (isWord(rest[0], 'ROLE') && isWord(rest[1], 'NONE', 'DEFAULT')) return 'nothing';
  const settings = settingsIn(rest);
  if (settings.length === 0) refuseStatement('SET of anything but settings');
  for (const setting of settings) checkSetting(setting);
  return 'nothing';
}

function checkDatabase(database: string): void {
  if (isDatabase(database)) return;
  refuse('unknown_table', {
    near: database,
    detail: `There is no database ${database}.`,
    hint: 'SHOW DATABASES lists the databases.',
  });
}

/** `[database .] table` at the beginning of the tokens. */
function nameAt(
  tokens: readonly Token[],
  database: string,
): { readonly database: string; readonly name: string; readonly rest: readonly Token[] } {
  const [first, dot, second, ...rest] = tokens;
  if (!isName(first)) return refuseStatement('a statement without the name of a table');
  if (dot?.kind !== 'Dot') return { database, name: plain(first), rest: tokens.slice(1) };
  return { database: plain(first), name: plain(second), rest };
}

function tableOf(
  database: string,
  name: string,
): { readonly database: string; readonly name: string } | undefined {
  const ofCatalogue = catalogueTable(database, name);
  if (ofCatalogue !== undefined) return { database: ofCatalogue.schema, name: ofCatalogue.name };
  return isDatabase(database) && schemaOf(database) === undefined && isPublicTable(name)
    ? { database, name }
    : undefined;
}

function knownTable(database: string, name: string): { readonly database: string; readonly name: string } {
  return tableOf(database, name) ?? refuseTable(database, name);
}

function refuseStatement(what: string): never {
  return refuse('not_select', { detail: `There is no ${what} here.`, hint: 'SHOW TABLES lists the tables.' });
}
