import type { Token } from './parser.ts';
import { refuse } from './refusal.ts';

/**
 * What the engine's lexer shows and its tree does not: the first word, FORMAT, INTO OUTFILE, SETTINGS, parameters. It also
 * refuses every text that the tree would print raw and that could therefore forge a line of it (sandbox.md A, B.5).
 * The tokens are those of the canonical text: no comments, keywords in capitals, one space between words.
 */

export interface TokenFacts {
  /** The FORMAT at the end, which is dropped: the request says the format. */
  readonly format: { readonly name: string; readonly at: number } | null;
  /** `{name:Type}` placeholders. */
  readonly parameters: readonly QueryParameter[];
}

export interface QueryParameter {
  readonly name: string;
  readonly type: string;
}

const FORBIDDEN_KINDS = new Set(['Semicolon', 'Comment', 'HereDoc', 'VerticalDelimiter', 'At', 'DoubleAt']);
/** A comma or a line break in a name could pass for the end of a line or an attribute of the printed tree. */
const RAW_UNSAFE = /[,\\`"\p{Cc}\p{Zl}\p{Zp}]/u;
/** Words before a string literal that the tree prints without quotes: patterns of columns, and collations. */
const RAW_LITERAL_AFTER = new Set(['EXCEPT', 'STRICT', 'COLLATE', 'LIKE', 'ILIKE', 'REGEXP']);
const PARAMETER_TYPE_REFUSED = /Identifier|AggregateFunction|Dynamic|Object/i;

/** Endings that a caller may leave in the text; the request's own `format` decides. Others, such as Null, ask for something else. */
const FORMAT_DROPPED =
  /^(JSON|JSON(Compact|Strings|Columns)\w*|JSONEachRow|NDJSON|JSONLines|CSV\w*|TSV\w*|TabSeparated\w*|Pretty\w*|Vertical|Values|Markdown|Parquet|Arrow|ArrowStream)$/i;

/** The word that a query begins with, as it was written: `TABLE t` is another statement in disguise. Throws `Refused`. */
export function checkFirstWord(written: readonly Token[]): void {
  const first = written.find(({ kind }) => kind !== 'OpeningRoundBracket' && kind !== 'Comment');
  if (first === undefined) refuse('empty');
  if (first.kind === 'BareWord' && /^(SELECT|WITH|FROM)$/i.test(first.text)) return;
  refuse('not_select', { near: first.text, hint: 'Begin with SELECT or WITH.' });
}

/** Throws `Refused`. */
export function checkTokens(tokens: readonly Token[]): TokenFacts {
  const first = tokens.find(({ kind }) => kind !== 'OpeningRoundBracket');
  if (first === undefined) refuse('empty');
  if (first.kind !== 'BareWord' || !/^(SELECT|WITH)$/.test(first.text)) {
    refuse('not_select', { near: first.text, hint: 'Begin with SELECT or WITH.' });
  }
  for (const [at, token] of tokens.entries()) {
    checkKind(token);
    checkName(token);
    checkClause(tokens, at);
    checkRawLiteral(tokens, at);
  }
  return { format: trailingFormat(tokens), parameters: parametersOf(tokens) };
}

function checkKind({ kind, text }: Token): void {
  if (kind === 'Semicolon')
    refuse('not_select', { near: text, hint: 'Send one statement without a semicolon.' });
  if (FORBIDDEN_KINDS.has(kind) || kind.startsWith('Error')) refuse('syntax', { near: text });
}

function checkName({ kind, text }: Token): void {
  if (kind !== 'QuotedIdentifier' || !RAW_UNSAFE.test(text.slice(1, -1))) return;
  refuse('identifier', {
    near: text,
    hint: 'Quoted names may hold no comma, quote, backslash or control character.',
  });
}

function checkClause(tokens: readonly Token[], at: number): void {
  const token = tokens[at];
  if (token?.kind !== 'BareWord') return;
  const before = tokens[at - 1];
  if (token.text === 'OUTFILE' && before?.text === 'INTO')
    refuse('forbidden_clause', {
      near: 'INTO OUTFILE',
      hint: 'The answer itself is the file: choose `format`.',
    });
  if (token.text === 'WITH' && before?.text === 'PARALLEL')
    refuse('forbidden_clause', { near: 'PARALLEL WITH' });
  // `FROM t STREAM`; behind AS it is a name.
  if (token.text === 'STREAM' && isName(before) && before?.text !== 'AS')
    refuse('forbidden_clause', { near: 'STREAM' });
  if (token.text === '_CAST') refuse('function', { near: '_CAST', hint: 'Write CAST(value AS Type).' });
  if (token.text === 'SETTINGS' && isSettingsClause(tokens, at)) {
    refuse('settings', {
      near: 'SETTINGS',
      hint: 'Time and memory come with `tier`, rows with `max_rows`, the form of the answer with `format`.',
    });
  }
}

/** `SETTINGS name = value`; a column called settings is not followed by a name and an equals sign. */
function isSettingsClause(tokens: readonly Token[], at: number): boolean {
  const name = tokens[at + 1];
  return (isName(name) || name?.kind === 'QuotedIdentifier') && tokens[at + 2]?.kind === 'Equals';
}

function isName(token: Token | undefined): boolean {
  return token?.kind === 'BareWord' || token?.kind === 'QuotedIdentifier';
}

/** A literal that is printed raw may hold no escape: an escaped line break would begin a line of the tree. */
function checkRawLiteral(tokens: readonly Token[], at: number): void {
  const token = tokens[at];
  if (token?.kind !== 'StringLiteral') return;
  const before = tokens[at - 1];
  const isColumns = before?.kind === 'OpeningRoundBracket' && tokens[at - 2]?.text === 'COLUMNS';
  const isPattern = before?.kind === 'BareWord' && RAW_LITERAL_AFTER.has(before.text);
  if (!isColumns && !isPattern) return;
  // A LIKE between two values is printed quoted and may hold anything; only one that selects columns follows an asterisk.
  if (isPattern && /^(LIKE|ILIKE|REGEXP)$/.test(before?.text ?? '') && tokens[at - 2]?.kind !== 'Asterisk')
    return;
  // Pairs of backslashes are one real backslash, as patterns need it; any other escape is a character we cannot see.
  if (!token.text.replaceAll('\\\\', '').includes('\\')) return;
  refuse('identifier', {
    near: token.text,
    hint: 'A pattern of column names may hold no escaped character but a doubled backslash.',
  });
}

/** Formats stand last: canonical text puts nothing after them but SETTINGS, which are refused. */
function trailingFormat(tokens: readonly Token[]): TokenFacts['format'] {
  const name = tokens.at(-1);
  const word = tokens.at(-2);
  if (word?.kind !== 'BareWord' || word.text !== 'FORMAT' || !isName(name) || name === undefined) return null;
  // `SELECT a AS FORMAT b` does not parse, so two last words FORMAT x are the clause and nothing else.
  const format = name.text.replace(/[`"]/g, '');
  if (!FORMAT_DROPPED.test(format))
    refuse('forbidden_clause', {
      near: name.text,
      hint: 'Leave FORMAT out and choose `format` in the request.',
    });
  return { name: format, at: word.at };
}

function parametersOf(tokens: readonly Token[]): QueryParameter[] {
  const found: QueryParameter[] = [];
  for (const [at, token] of tokens.entries()) {
    const name = tokens[at + 1];
    if (token.kind !== 'OpeningCurlyBrace' || name?.kind !== 'BareWord' || tokens[at + 2]?.kind !== 'Colon')
      continue;
    const end = tokens.findIndex(({ kind }, index) => index > at && kind === 'ClosingCurlyBrace');
    const type = tokens
      .slice(at + 3, end)
      .map(({ text }) => text)
      .join('');
    if (PARAMETER_TYPE_REFUSED.test(type))
      refuse('parameter', {
        near: name.text,
        hint: 'Parameters carry values: a number, text, date, array or map.',
      });
    found.push({ name: name.text, type });
  }
  return found;
}
