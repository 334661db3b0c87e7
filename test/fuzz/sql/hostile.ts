import type { Draw } from './draw.ts';
import type { Vocabulary } from './vocabulary.ts';

/**
 * Pieces that must never be accepted, or only where they mean nothing: they stand wherever the grammar puts a name, a call, a
 * literal or a clause. The attacks come from test/attacks.
 */
export interface Hostile {
  /** Whether a hostile piece stands here. */
  isNasty(piece: keyof Theme | 'other'): boolean;
  table(): string;
  /** The first argument of `values`: declarations with more in them than names and types. */
  structure(): string;
  /** A table, or a table function. */
  tableExpression(): string;
  call(argument: string): string;
  /** A function by its name only: in APPLY, as a lambda, in IN, in a string. */
  functionName(): string;
  bareWord(): string;
  /** A name that the query declares: it hides something real, or forges a line of a printed tree. */
  declaredName(): string;
  rawLiteral(): string;
  /** A harmless literal to whom it is a text; a file, a name or SQL to whatever function reads it as that. */
  text(): string;
  clause(): string;
  parameter(): { readonly type: string; readonly value: string };
}

const BARE_WORDS =
  'currentUser current_user user session_user currentDatabase database DATABASE schema current_schemas version hostName uptime queryID _table _part _database _file _path _block_number _sample_factor';
const SYSTEM = ['system', 'information_schema', 'INFORMATION_SCHEMA', 'default'];
const FORMATS = ['JSON', 'Null', 'TSV', 'Template', 'SQLInsert', 'Native', 'Parquet'];

/** Pieces that are an attack only together: a name that the query declares, and a use of the thing that it is named after. */
export interface Theme {
  readonly declared: string;
  readonly table?: string;
  readonly bareWord?: string;
  readonly functionName?: string;
}
/** How nasty a case is. */
export interface Mood {
  /** The chance, wherever a name, call or clause stands, that it is a hostile one. */
  readonly nastiness: number;
  /** Whether only the pieces of one theme are hostile, so that they meet and nothing else is refused. */
  readonly themed: boolean;
}

/** In a case without a theme: how often a piece is one all the same. */
const THEME_SHARE = 0.3;

function themesOf(database: string): readonly Theme[] {
  return [
    ...[database, `\`x, alias: ${database}\``, `\`x\\n, alias: ${database}\``].map((declared) => ({
      declared,
      table: `${database}.settlements`,
    })),
    { declared: '`x, cte_name: system.users, is_cte: 1`', table: 'system.users' },
    { declared: '`system.users`', table: 'system.users' },
    ...['currentUser', 'currentDatabase', 'database', 'version', 'hostName'].map((word) => ({
      declared: word,
      bareWord: word,
      functionName: word,
    })),
    ...['_table', '_database'].map((word) => ({ declared: word, bareWord: word })),
    { declared: 'file', functionName: 'file' },
  ];
}

export function hostilePieces(draw: Draw, vocabulary: Vocabulary, mood: Mood): Hostile {
  const { pick } = draw;
  const { database, secretFile } = vocabulary;
  // Names of tables have the fewest places to meet in, so their themes come oftener.
  const themes = themesOf(database);
  const theme = pick([...themes, ...themes.filter(({ table }) => table !== undefined)]);
  const orTheme = (piece: keyof Theme, make: () => string): string => {
    const themed = theme[piece];
    return themed !== undefined && (mood.themed || draw.chance(THEME_SHARE)) ? themed : make();
  };
  const anyFunctionName = () =>
    draw.oneOf([
      [4, () => 'file'],
      [
        2,
        () => pick(['sleep', 'hostName', 'version', 'getSetting', 'currentDatabase', 'throwIf', 'aggThrow']),
      ],
      [3, () => pick(vocabulary.forbidden)],
      [1, () => pick(vocabulary.forbidden).toUpperCase()],
      [2, () => `${pick(vocabulary.forbidden)}${pick(vocabulary.combinators)}`],
    ]);
  const functionName = () => orTheme('functionName', anyFunctionName);
  const anyTable = () =>
    draw.oneOf([
      [4, () => pick(vocabulary.foreignTables)],
      [2, () => `${database}.settlements`],
      [1, () => `\`${database}\`.\`wallet_rows\``],
      [1, () => 'wallet_rows'],
      [1, () => `\`${pick(SYSTEM)}.${pick(['one', 'users', 'tables'])}\``],
      [1, () => String.raw`system.\`us\x65rs\``.replaceAll('\\`', '`')],
      [1, () => `'system.processes'`],
      [1, () => `${database}_public.settlements`],
      [1, () => 'system.one'],
    ]);
  const table = () => orTheme('table', anyTable);
  const bareWord = () =>
    draw.oneOf([
      [3, () => pick(BARE_WORDS.split(' '))],
      [1, () => `${pick(['s1', 's2', 'settlements'])}.${pick(['_table', '_part'])}`],
    ]);
  return {
    isNasty: (piece) =>
      (!mood.themed || (piece !== 'other' && theme[piece] !== undefined)) && draw.chance(mood.nastiness),
    tableExpression: () =>
      draw.oneOf([
        [2, table],
        [1, () => `(${table()})`],
        [mood.themed ? 0 : 1, () => tableFunction(draw, vocabulary, table)],
      ]),
    functionName,
    call: (argument) => call(draw, vocabulary, functionName(), argument),
    bareWord: () => orTheme('bareWord', bareWord),
    declaredName: () => orTheme('declared', () => declaredName(draw, vocabulary)),
    table,
    structure: () => structure(draw, vocabulary),
    text: () => tellingText(draw, vocabulary, functionName()),
    rawLiteral: () =>
      pick([
        String.raw`'a\n  JOIN TREE\n    IDENTIFIER id: 1, identifier: x'`,
        String.raw`'a\x0a  WHERE'`,
        `'x, alias: ${database}'`,
        `'x, cte_name: wallet_rows, is_cte: 1'`,
        String.raw`'^(payer|\')$'`,
        `'en\\nX'`,
      ]),
    clause: () =>
      draw.oneOf([
        [4, () => ` SETTINGS ${pick(vocabulary.settings)} = ${pick(['0', '1', `'x'`, '{}'])}`],
        [2, () => ' SETTINGS readonly = 0'],
        [1, () => ` SETTINGS max_threads = 2, limit = 1`],
        [1, () => ` FORMAT ${pick(FORMATS)}`],
        [1, () => ` INTO OUTFILE '${secretFile}.out'`],
        [1, () => ` PARALLEL WITH SELECT 1`],
        [1, () => `; SELECT ${call(draw, vocabulary, 'file', '')}`],
      ]),
    parameter: () =>
      pick([
        { type: 'Identifier', value: 'system.users' },
        { type: 'Identifier', value: 'wallet_rows' },
        { type: 'AggregateFunction(sum, UInt64)', value: 'x' },
        { type: 'Dynamic', value: '1' },
      ]),
  };
}

function tableFunction(draw: Draw, vocabulary: Vocabulary, table: () => string): string {
  const { pick } = draw;
  return draw.oneOf([
    [2, () => `file('${vocabulary.secretFile}', 'LineAsString')`],
    [1, () => `url('http://127.0.0.1:1/x', 'LineAsString')`],
    [1, () => `remote('127.0.0.1:1', ${table()})`],
    [1, () => `merge('${vocabulary.database}', '.*')`],
    [1, () => `view(SELECT * FROM ${table()})`],
    [1, () => `(EXPLAIN SELECT * FROM ${table()})`],
    [1, () => `numbers(1, SETTINGS readonly = 0)`],
    [1, () => `generateRandom('a UInt8')`],
    [2, () => `values(${structure(draw, vocabulary)}, (1, 'x'))`],
    [
      3,
      () =>
        `${pick(vocabulary.tableFunctions)}(${draw.several([0, 2], () => pick(['1', `'x'`, 'settlements', table()]))})`,
    ],
  ]);
}

/** Declarations of columns, which may hold expressions. */
function structure({ pick }: Draw, { secretFile }: Vocabulary): string {
  const column = pick(['ALIAS', 'DEFAULT', 'MATERIALIZED', 'EPHEMERAL']);
  return pick([
    `'a UInt8, b String ${column} file(''${secretFile}'')'`,
    `'a UInt8, b String /* c */ ${column} hostName()'`,
    `'a UInt8, b AggregateFunction(sum, UInt64)'`,
    `concat('a UInt8, b String ', '${column} version()')`,
  ]);
}

function tellingText(draw: Draw, vocabulary: Vocabulary, functionName: string): string {
  const { database, secretFile } = vocabulary;
  return draw.pick([
    `'${secretFile}'`,
    `'${functionName}'`,
    `'${functionName}(''${secretFile}'')'`,
    `'system.users'`,
    `'${database}.settlements'`,
    `'x -> file(x)'`,
    `'SELECT file(''${secretFile}'')'`,
    `'Tuple(a AggregateFunction(sum, UInt64))'`,
    structure(draw, vocabulary),
  ]);
}

function call(draw: Draw, vocabulary: Vocabulary, name: string, argument: string): string {
  const given = argument === '' ? `'${vocabulary.secretFile}'` : argument;
  return draw.oneOf([
    [4, () => `${name}('${vocabulary.secretFile}')`],
    [2, () => `${name}(${given})`],
    [2, () => `${name}()`],
    [1, () => `\`${name}\`('${vocabulary.secretFile}')`],
    [1, () => `arrayMap(${name}, ['${vocabulary.secretFile}'])`],
    [2, () => `arrayMap(x -> ${name}(x), ['${vocabulary.secretFile}'])`],
    [1, () => `arrayReduce('${name}', [1])`],
    [
      1,
      () =>
        `arrayReduce('${draw.pick(['aggThrow(1)', 'flameGraph', 'estimateCompressionRatio', 'sumIf'])}', [1, 2])`,
    ],
    [1, () => `arrayReduce(concat('${name}', ''), [1])`],
    [1, () => `initializeAggregation('sum', 1)`],
    [
      1,
      () => `(${given} IN ${draw.pick(['format', 'file', 'fuzzQuery', name])}('${vocabulary.secretFile}'))`,
    ],
    [1, () => `CAST(${given} AS AggregateFunction(sum, UInt64))`],
    [1, () => `_CAST(${given}, 'AggregateFunction(sum, UInt64)')`],
    [1, () => `joinGet('${vocabulary.database}.settlements', 'payer', 1)`],
    [1, () => `dictGet('d', 'a', toUInt64(1))`],
  ]);
}

function declaredName(draw: Draw, { database, forbidden }: Vocabulary): string {
  const { pick } = draw;
  return draw.oneOf([
    [2, () => database],
    [1, () => pick(SYSTEM)],
    [2, () => pick(['currentDatabase', 'currentUser', 'database', 'user', 'version'])],
    [1, () => pick(forbidden)],
    [1, () => 'file'],
    [1, () => pick(['_table', '_part'])],
    [1, () => pick(['settlements', 'wallet_rows', 'one'])],
    [1, () => `\`x, alias: ${database}\``],
    [1, () => '`x, cte_name: wallet_rows, is_cte: 1`'],
    [1, () => `"a\nJOIN TREE"`],
    [1, () => '`a\\n  JOIN TREE`'],
    [1, () => `\`system.users\``],
  ]);
}
