import { cleanWords } from './engine-words.ts';
import type { ParseProblem } from './parser.ts';
import type { Refusal } from './refusal.ts';

/** Where and why a text does not parse: the engine's words, shortened to what its writer can use. */

/** More alternatives than these say nothing. */
const EXPECTED_MAX = 8;
/** What the engine's grammar offers and callers cannot use, or what is a name of its own for a sign. */
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
/** The grammar's own names for things. */
const PLAIN_WORDS: readonly (readonly [RegExp, string])[] = [
  [/expression/i, 'an expression'],
  [/^end of query$/, 'the end'],
  [/SELECT (query|subquery)|^subquery|union elements/i, 'a subquery'],
];

/** What the refusal of a text that the engine could not read says, save for where it is. */
export function explainSyntax({ problem }: ParseProblem): Omit<Refusal, 'position'> {
  return parameterProblem(problem) ?? { code: 'syntax', ...syntaxProblem(problem) };
}

/** Values of parameters are read while the tree is made. */
function parameterProblem(problem: string): Refusal | undefined {
  const [, type, name] = /cannot be parsed as (.+?) for query parameter '(\w+)'/s.exec(problem) ?? [];
  if (type === undefined || name === undefined) return undefined;
  return {
    code: 'parameter',
    near: name,
    detail: `The value of ${name} in params cannot be read as ${type}.`,
    hint: 'Send the value as the type is written, or change the type of the placeholder.',
  };
}

function syntaxProblem(problem: string): Pick<Refusal, 'detail' | 'near' | 'hint'> {
  const near = /failed at position \d+ \((.+?)\)(?: \(line \d+, col \d+\))?: /s.exec(problem)?.[1];
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
