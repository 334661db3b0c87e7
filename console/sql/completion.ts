import type {
  Completion,
  CompletionContext,
  CompletionResult,
  CompletionSource,
} from '@codemirror/autocomplete';
import { SQLDialect } from '@codemirror/lang-sql';
import type { SqlSchema } from '../wire.ts';

/** The keywords of ClickHouse’s SELECT that a query may use; the functions come from the API. */
const KEYWORDS =
  'with select distinct on as from final sample array join global any all asof semi anti left right full inner outer cross paste using prewhere where group by rollup cube totals having window over partition rows range between unbounded preceding following current row qualify order asc desc nulls first last collate fill to step staleness interpolate limit offset ties union except intersect and or not in is null like ilike rlike regexp exists case when then else end cast extract interval second minute hour day week month quarter year true false explain format settings recursive values columns apply replace';
const TYPES =
  'int8 int16 int32 int64 int128 int256 uint8 uint16 uint32 uint64 uint128 uint256 float32 float64 decimal decimal32 decimal64 decimal128 decimal256 string fixedstring bool date date32 datetime datetime64 array tuple map nullable lowcardinality enum8 enum16 uuid ipv4 ipv6 variant dynamic json';

/** The dialect with the functions that this deployment allows; none until the schema is loaded. */
export function clickHouseDialect(functions: readonly string[]): SQLDialect {
  return SQLDialect.define({
    keywords: KEYWORDS,
    types: TYPES,
    // The package looks up words in lower case.
    builtin: functions.join(' ').toLowerCase(),
    backslashEscapes: true,
    hashComments: true,
    doubleQuotedStrings: false,
    identifierQuotes: '`"',
    operatorChars: '*+-%<>!=/|?:',
    specialVar: '',
  });
}

/** Completion of columns, tables, functions and keywords. It offers what a word may become and never changes a text that is typed on. */

/** The order among matches that fit the typed letters equally well. */
const BOOST = { near: 4, table: 2, function: 0, keyword: -1, elsewhere: -2 } as const;

const TABLE_PLACE = /\b(from|join)\s+$/i;
/** How much text before a word is searched for FROM or JOIN. */
const PLACE_CHARS = 40;

/** The package’s own list also contains every function, in capitals. */
const KEYWORD_OPTIONS: readonly Completion[] = KEYWORDS.split(' ').map((word) => ({
  label: word.toUpperCase(),
  type: 'keyword',
  boost: BOOST.keyword,
}));

export function schemaCompletions(schema: SqlSchema): CompletionSource {
  const tables = schema.tables.map(
    ({ name, meaning }): Completion => ({
      label: name,
      type: 'class',
      detail: 'table',
      info: meaning,
      boost: BOOST.table,
    }),
  );
  const functions = schema.functions.map(
    (name): Completion => ({ label: name, type: 'function', apply: `${name}(`, boost: BOOST.function }),
  );
  return (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/[A-Za-z_]\w*/);
    if (word === null && !context.explicit) return null;
    const from = word?.from ?? context.pos;
    // After a dot the source of the language package completes the columns of the table.
    if (context.state.sliceDoc(from - 1, from) === '.') return null;
    const text = context.state.sliceDoc();
    const { withs, aliases } = namesOf(text.slice(0, from) + text.slice(context.pos));
    // Only tables follow FROM and JOIN.
    const isTablePlace = TABLE_PLACE.test(context.state.sliceDoc(Math.max(0, from - PLACE_CHARS), from));
    const options = isTablePlace
      ? [...withs.map(nameOption('WITH')), ...tables, ...KEYWORD_OPTIONS]
      : [
          ...columnsInSight(schema, text),
          ...aliases.map(nameOption('alias')),
          ...withs.map(nameOption('WITH')),
          ...tables,
          ...functions,
          ...KEYWORD_OPTIONS,
        ];
    return whileUnfinished({ from, options }, word?.text ?? '');
  };
}

/** No list for a word that is whole already: it could only become another one. */
export function whileUnfinished(result: CompletionResult, word: string): CompletionResult | null {
  const labels = new Set(result.options.map(({ label }) => label.toLowerCase()));
  const isWhole = (typed: string): boolean => labels.has(typed.toLowerCase());
  if (isWhole(word)) return null;
  return { ...result, validFor: (typed) => /^\w*$/.test(typed) && !isWhole(typed) };
}

const nameOption =
  (detail: string) =>
  (label: string): Completion => ({ label, type: 'variable', detail, boost: BOOST.near });

/** A name between AS and what ends it; also `name AS (` of WITH. */
const ALIAS = /\bas\s+([A-Za-z_]\w*)/gi;
const WITH_NAME = /(?:\bwith\b(?:\s+recursive\b)?|,)\s*([A-Za-z_]\w*)\s+as\s*\(/gi;

/** Names that a text gives itself: of its WITH queries, and of expressions and tables. */
export function namesOf(text: string): {
  readonly withs: readonly string[];
  readonly aliases: readonly string[];
} {
  const all = (pattern: RegExp): string[] => [
    ...new Set([...text.matchAll(pattern)].flatMap(([, name]) => (name === undefined ? [] : [name]))),
  ];
  return { withs: all(WITH_NAME), aliases: all(ALIAS) };
}

/** Columns of the tables after FROM and JOIN first, then columns of the other tables; each name once. */
function columnsInSight({ tables }: SqlSchema, text: string): Completion[] {
  const words = new Set(text.match(/\w+/g) ?? []);
  const named = tables.filter(({ name }) => words.has(name));
  const others = tables.filter((table) => !named.includes(table));
  const options = new Map<string, Completion>();
  const add = (list: SqlSchema['tables'], boost: number): void => {
    for (const { name: table, columns } of list)
      for (const { name, type, meaning } of columns)
        if (!options.has(name))
          options.set(name, {
            label: name,
            type: 'property',
            detail: `${type} · ${table}`,
            info: meaning,
            boost,
          });
  };
  add(named, BOOST.near);
  add(others, named.length === 0 ? BOOST.near : BOOST.elsewhere);
  return [...options.values()];
}

/** Limits a source to names after a dot; elsewhere it would list all tables a second time. */
export function afterDot(source: CompletionSource): CompletionSource {
  return async (context) => {
    const word = context.matchBefore(/\w+/);
    const from = word?.from ?? context.pos;
    if (context.state.sliceDoc(from - 1, from) !== '.') return null;
    const result = await source(context);
    return result === null ? null : whileUnfinished(result, word?.text ?? '');
  };
}

/** The columns that the language package completes after `table.` and `alias.`. */
export function columnsByTable({ tables }: SqlSchema): Record<string, Completion[]> {
  return Object.fromEntries(
    tables.map(({ name, columns }) => [
      name,
      columns.map(({ name: label, type, meaning }) => ({
        label,
        type: 'property',
        detail: type,
        info: meaning,
      })),
    ]),
  );
}
