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

/** Completion of columns, tables, functions and keywords. */

/** The order among matches. */
const BOOST = { column: 3, table: 2, function: 0, keyword: -1 } as const;

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
    // Only tables follow FROM and JOIN.
    if (TABLE_PLACE.test(context.state.sliceDoc(Math.max(0, from - PLACE_CHARS), from)))
      return { from, options: [...tables, ...KEYWORD_OPTIONS], validFor: /^\w*$/ };
    // After a dot the source of the language package completes the columns of the table.
    if (context.state.sliceDoc(from - 1, from) === '.') return null;
    return {
      from,
      options: [
        ...columnsInSight(schema, context.state.sliceDoc()),
        ...tables,
        ...functions,
        ...KEYWORD_OPTIONS,
      ],
      validFor: /^\w*$/,
    };
  };
}

/** The columns of the tables that the text names; of all tables until it names one. */
function columnsInSight({ tables }: SqlSchema, text: string): Completion[] {
  const words = new Set(text.match(/\w+/g) ?? []);
  const named = tables.filter(({ name }) => words.has(name));
  const options = new Map<string, Completion>();
  for (const { name: table, columns } of named.length === 0 ? tables : named)
    for (const { name, type, meaning } of columns)
      if (!options.has(name))
        options.set(name, {
          label: name,
          type: 'property',
          detail: `${type} · ${table}`,
          info: meaning,
          boost: BOOST.column,
        });
  return [...options.values()];
}

/** Limits a source to names after a dot; elsewhere it would list all tables a second time. */
export function afterDot(source: CompletionSource): CompletionSource {
  return (context) => {
    const from = context.matchBefore(/\w+/)?.from ?? context.pos;
    return context.state.sliceDoc(from - 1, from) === '.' ? source(context) : null;
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
