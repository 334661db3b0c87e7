import { PUBLIC_TABLE_NAMES } from '../../core/domain/public-tables.ts';
import { textBetween } from '../../core/text.ts';
import type { ParseProblem } from './parser.ts';
import type { Refusal } from './refusal.ts';

/**
 * Cleans the engine's messages for callers. They name databases, users, settings, internal aliases and pieces of the views' bodies;
 * such parts are cut or replaced. A message that still looks internal afterwards is not shown at all.
 */

/** Where the useful part of a message ends: then follow the query, expressions of the plan, parts and paths. */
const TAILS = [
  /[.:]? [Ii]n scope [\s\S]*$/,
  /[.:]? In query [\s\S]*$/,
  /[:,]? [Ww]hile executing [\s\S]*$/,
  /[:,]? \(?while (reading|processing|converting|parsing|planning)[\s\S]*$/i,
  /[:,]? during evaluation of [\s\S]*$/,
  /\. Consider (raising|increasing|using)[\s\S]*$/,
  /\. To ignore this error[\s\S]*$/,
  /\.? ?(Maybe you meant|You can|Note: there (is|are)|Please |Look at |If it happens|Stack trace|See )[\s\S]*$/,
  /[.:]? ?\((?:[A-Z_]{3,})\)[\s\S]*$/,
  /[.:]? ?\(version [\s\S]*$/,
];
const UUID = /(?<!\s)\s*\([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\)/g;
const TABLE_NAMES: ReadonlySet<string> = new Set(PUBLIC_TABLE_NAMES);
/** Parts of a name, each but the last with what follows its dot. */
const QUALIFIED = /\b\w+\.(?=(\w+))/g;
/** Internal names: a message that contains one is not shown. */
const OURS = [
  /__\w|_public\b|\bDB::|::Column|\bStorage\b|\bsetting|\bguest\b|\bwriter\b|\breader\b/i,
  /\bversion\b|\bserver\b|privileges|\bGRANT\b|https?:|\bthread|\bhost\b/i,
  /_[0-9a-f]{6}/i,
  /(?:^|[\s'"(=])\/\w+\/\w/,
  /\b\d+\.\d+\.\d+\.\d+\b/,
];
const WORDS_MAX_CHARS = 240;

/** One sentence, or undefined if nothing may be shown. */
export function cleanWords(message: string): string | undefined {
  let words = message.replace(/^(Code: \d+\. )?(DB::Exception: )?(OptimizedRegularExpression: )?/, '');
  for (const tail of TAILS) words = words.replace(tail, '');
  words = words.replaceAll(UUID, '').replaceAll(QUALIFIED, withoutDatabase).replaceAll(/\s+/g, ' ').trim();
  words = words.replace(/(?<![.:,])[.:,]+$/, '');
  if (words === '' || OURS.some((pattern) => pattern.test(words))) return undefined;
  return words.length > WORDS_MAX_CHARS ? `${words.slice(0, WORDS_MAX_CHARS)}…` : `${words}.`;
}

function withoutDatabase(prefix: string, table: string): string {
  return TABLE_NAMES.has(table) ? '' : prefix;
}

/** Where and why a text does not parse: the engine's message, reduced to what its author can use. */

/** A longer list of alternatives helps no one. */
const EXPECTED_MAX = 8;
/** Alternatives that callers cannot use, and the grammar's internal names for signs. */
const NOT_OFFERED =
  /^(token|Comma|DoubleColon|SETTINGS|STREAM|PREWHERE|FORMAT|INTO OUTFILE|ParallelWithClause|PARALLEL WITH|EXPLAIN|SELECT or EXPLAIN subquery|substitution name \(identifier\))$/;
const KINDS: readonly (readonly [RegExp, Pick<Refusal, 'detail' | 'hint'>])[] = [
  [
    /Multi-statements are not allowed/,
    { detail: 'The text holds more than one statement.', hint: 'Send one SELECT in each request.' },
  ],
  [/string is not closed/i, { detail: 'A quoted text is not closed.', hint: 'Close it with \' or ".' }],
  [
    /Unmatched parentheses/,
    { detail: 'A bracket has no partner.', hint: 'Close every bracket that is opened, and no more.' },
  ],
  [/comment is not closed/i, { detail: 'A comment is not closed.', hint: 'Close it with */.' }],
  [
    /Max query size exceeded|Maximum parse depth/,
    { detail: 'The query is too deeply nested.', hint: 'Split the question, or move parts into WITH.' },
  ],
];
const DEFAULT_HINT = 'The dialect is that of ClickHouse; a name that is no plain word stands in "quotes".';
const MUCH_EXPECTED =
  'An operator, a comma, an alias with AS, or a clause such as FROM, WHERE or GROUP BY is expected here.';
/** The grammar's internal names. */
const PLAIN_WORDS: readonly (readonly [RegExp, string])[] = [
  [/expression/i, 'an expression'],
  [/^end of query$/, 'the end'],
  [/SELECT (query|subquery)|^subquery|union elements/i, 'a subquery'],
];

/** The refusal of a text that does not parse, without its position. */
export function explainSyntax({ problem }: ParseProblem): Omit<Refusal, 'position'> {
  return parameterProblem(problem) ?? { code: 'syntax', ...syntaxProblem(problem) };
}

/** The engine reads parameter values while it builds the tree. */
function parameterProblem(problem: string): Refusal | undefined {
  const type = textBetween(problem, 'cannot be parsed as ', " for query parameter '");
  const name = / for query parameter '(\w+)'/.exec(problem)?.[1];
  if (type === undefined || name === undefined) return undefined;
  return {
    code: 'parameter',
    near: name,
    detail: `The value of ${name} in params cannot be read as ${type}.`,
    hint: 'Send the value as the type is written, or change the type of the placeholder.',
  };
}

/** The token in `failed at position 5 (FRM) (line 1, col 5): …`, which may hold brackets itself. */
function failedAt(problem: string): string | undefined {
  const [, after] = problem.split(/failed at position \d+ \(/, 2);
  const end = after?.slice(1).search(/\)(?: \(line \d+, col \d+\))?: /) ?? -1;
  return end < 0 ? undefined : after?.slice(0, end + 1);
}

function syntaxProblem(problem: string): Pick<Refusal, 'detail' | 'near' | 'hint'> {
  const near = failedAt(problem);
  const isEnd = near === 'end of query';
  const word = near === undefined || isEnd ? {} : { near };
  const known = KINDS.find(([pattern]) => pattern.test(problem))?.[1];
  if (known !== undefined) return { ...known, ...word };
  if (!/failed at position/.test(problem)) {
    return { detail: cleanWords(problem) ?? 'The query is not valid ClickHouse SQL.', hint: DEFAULT_HINT };
  }
  return {
    detail: isEnd ? 'The text ends too early.' : `Syntax error${near === undefined ? '' : ` at ${near}`}.`,
    ...word,
    hint: expectedIn(problem) ?? DEFAULT_HINT,
  };
}

function expectedIn(problem: string): string | undefined {
  const list = /Expected (?:one of: )?(.+)$/s.exec(problem)?.[1];
  const expected = list
    ?.split(', ')
    .map((word) => word.trim())
    .filter((word) => word !== '' && !NOT_OFFERED.test(word))
    .map((word) => PLAIN_WORDS.find(([pattern]) => pattern.test(word))?.[1] ?? word);
  const different = [...new Set(expected)];
  if (different.length === 0) return undefined;
  if (different.length > EXPECTED_MAX) return MUCH_EXPECTED;
  return `Expected here: ${different.join(', ')}.`;
}
