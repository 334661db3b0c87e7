import { quoted } from '../../clickhouse/catalogue/rows.ts';
import {
  CATALOGUE_SCHEMAS,
  CATALOGUE_TABLES,
  type CatalogueTable,
  PUBLISHED_DATABASE,
  PUBLISHED_TIME_ZONE,
  PUBLISHED_VERSION,
} from '../../clickhouse/catalogue/tables.ts';
import { PUBLIC_TABLES } from '../../core/domain/public-tables.ts';
import { refuse } from '../judge/refusal.ts';
import { type CatalogueStatement, isName, isWord, plain, type Replacement, replaced } from './words.ts';

/**
 * A SELECT over the published catalogue, written over the catalogue's views: `system.tables` becomes the view of its rows, and
 * `version()` a constant with the same name. The tokens are replaced without understanding the text around them; the result is
 * judged like any other text under the catalogue's policy, so a replacement in the wrong place can only be refused.
 */

/** Whose session the text believes it runs in. */
export interface Session {
  /** The database that the client chose; the published one unless it names a part of the catalogue. */
  readonly database: string;
  /** The organization of the key; `anonymous` without one. */
  readonly user: string;
}

export interface CatalogueSelect {
  readonly text: string;
  /** Whether it names a table of the catalogue. */
  readonly readsCatalogue: boolean;
  /** Whether it calls `version()` or another constant of the session. */
  readonly readsSession: boolean;
}

const HOST = 'settlement-index';

/** By lower-case name: ClickHouse ignores the case of some of them, and has several names for some. */
function sessionConstants({ database, user }: Session): Readonly<Record<string, string>> {
  return {
    version: PUBLISHED_VERSION,
    timezone: PUBLISHED_TIME_ZONE,
    servertimezone: PUBLISHED_TIME_ZONE,
    currentdatabase: database,
    current_database: database,
    database,
    schema: database,
    currentuser: user,
    current_user: user,
    user,
    hostname: HOST,
    fqdn: HOST,
    displayname: HOST,
  };
}

export function catalogueSelect(statement: CatalogueStatement, session: Session): CatalogueSelect {
  const { replacements, constants, readsCatalogue } = found(statement, sessionConstants(session));
  const readsSession = constants.size > 0;
  return {
    text: withConstants(replaced(statement, replacements), constants),
    readsCatalogue,
    readsSession,
  };
}

interface Found {
  readonly replacements: readonly Replacement[];
  /** Literals by the name of the call, as it is written. */
  readonly constants: ReadonlyMap<string, string>;
  readonly readsCatalogue: boolean;
}

function found({ tokens }: CatalogueStatement, constantOf: Readonly<Record<string, string>>): Found {
  const replacements: Replacement[] = [];
  const constants = new Map<string, string>();
  let readsCatalogue = false;
  for (let at = 0; at < tokens.length; at++) {
    if (tokens[at - 1]?.kind === 'Dot' || !isName(tokens[at])) continue;
    const value = constantOf[plain(tokens[at]).toLowerCase()];
    if (schemaOf(plain(tokens[at])) !== undefined && tokens[at + 1]?.kind === 'Dot') {
      replacements.push(tableAt(tokens, at));
      readsCatalogue = true;
    } else if (value !== undefined && tokens[at + 1]?.text === '(' && tokens[at + 2]?.text === ')') {
      const name = `\`${plain(tokens[at])}()\``;
      constants.set(name, quoted(value));
      replacements.push({ from: at, to: at + 2, by: name });
    }
  }
  return { replacements, constants, readsCatalogue };
}

/** `system.tables`, and `system.tables.name`: the view keeps the table's short name as its alias where the text gives none. */
function tableAt(tokens: CatalogueStatement['tokens'], at: number): Replacement {
  const [schema, name] = [plain(tokens[at]), plain(tokens[at + 2])];
  const table = catalogueTable(schema, name) ?? refuseTable(schema, name);
  const [before, after] = [tokens[at - 1], tokens[at + 3]];
  const isSource = isWord(before, 'FROM', 'JOIN') || before?.kind === 'Comma';
  const needsAlias = isSource && !isWord(after, 'AS') && after?.kind !== 'Dot';
  return { from: at, to: at + 2, by: needsAlias ? `${table.view} AS ${name}` : table.view };
}

/** `information_schema` exists in both cases, and so do its tables. */
export function catalogueTable(schema: string, name: string): CatalogueTable | undefined {
  const ofSchema = schemaOf(schema);
  const wanted = ofSchema === 'information_schema' ? name.toLowerCase() : name;
  return CATALOGUE_TABLES.find((table) => table.schema === ofSchema && table.name === wanted);
}

export function schemaOf(name: string): (typeof CATALOGUE_SCHEMAS)[number] | undefined {
  return CATALOGUE_SCHEMAS.find(
    (schema) => schema === name || (schema === 'information_schema' && schema.toUpperCase() === name),
  );
}

/** Whether a name is one of the databases that callers see. */
export function isDatabase(name: string): boolean {
  return name === PUBLISHED_DATABASE || schemaOf(name) !== undefined;
}

export function isPublicTable(name: string): boolean {
  return Object.hasOwn(PUBLIC_TABLES, name);
}

export function refuseTable(schema: string, name: string): never {
  const listed = CATALOGUE_TABLES.filter((table) => table.schema === schemaOf(schema)).map(
    (table) => table.name,
  );
  return refuse('unknown_table', {
    near: `${schema}.${name}`,
    detail: `There is no table ${schema}.${name}.`,
    ...(listed.length === 0
      ? { hint: 'SHOW DATABASES lists the databases, SHOW TABLES the tables.' }
      : { hint: `${schema} has ${listed.join(', ')}.` }),
  });
}

/** Declares the constants in the outermost WITH, which all its subqueries see. The name of a result column stays `version()`. */
function withConstants(text: string, constants: ReadonlyMap<string, string>): string {
  if (constants.size === 0) return text;
  const declared = [...constants].map(([name, value]) => `${value} AS ${name}`).join(', ');
  const own = /^(\(*)WITH (?!RECURSIVE )/.exec(text);
  if (own !== null) return `${own[0]}${declared}, ${text.slice(own[0].length)}`;
  return text.replace(/^\(*/, (open) => `${open}WITH ${declared} `);
}

/** A query over the public tables without their database, which exists only for callers: `default.agents` becomes `agents`. */
export function withoutDatabase(statement: CatalogueStatement): string {
  const { tokens } = statement;
  const isNamedSo = (at: number): boolean =>
    isName(tokens[at]) &&
    plain(tokens[at]) === PUBLISHED_DATABASE &&
    tokens[at - 1]?.kind !== 'Dot' &&
    tokens[at + 1]?.kind === 'Dot' &&
    isPublicTable(plain(tokens[at + 2]));
  const found = [...tokens.keys()].filter(isNamedSo);
  return replaced(
    statement,
    found.map((at) => ({ from: at, to: at + 1, by: '' })),
  );
}
