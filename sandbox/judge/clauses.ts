import { hasInvisible } from '../../core/domain/display-text.ts';
import { type CallerText, isWord, type Piece, replacement } from './caller-text.ts';
import type { Token } from './parser.ts';
import { type TreeNode, walk } from './query-tree.ts';
import { refuse } from './refusal.ts';

/**
 * Rules about clauses. Most clauses appear in the engine's tokens but not in its tree: the first word, FORMAT, INTO OUTFILE,
 * SETTINGS. They also refuse every text that the tree would print raw and that could therefore forge a line of it
 * (docs/design/sandbox.md). The tokens come from the canonical text: no comments, keywords in capitals, one space between words.
 */

const FORBIDDEN_KINDS = new Set(['Semicolon', 'Comment', 'HereDoc', 'VerticalDelimiter', 'At', 'DoubleAt']);
/** A comma or a line break in a name could pass for the end of a line or an attribute of the printed tree. */
const RAW_UNSAFE = /[,\\`"\p{Cc}\p{Zl}\p{Zp}]/u;
/** Words before a string literal that the tree prints without quotes: patterns of columns, and collations. */
const RAW_LITERAL_AFTER = new Set(['EXCEPT', 'STRICT', 'COLLATE', 'LIKE', 'ILIKE', 'REGEXP']);

/** Formats that a text may end with; the request's `format` takes precedence. Others, such as Null, change what the query does. */
const FORMAT_DROPPED =
  /^(JSON|JSON(Compact|Strings|Columns)\w*|JSONEachRow|NDJSON|JSONLines|CSV\w*|TSV\w*|TabSeparated\w*|Pretty\w*|Vertical|Values|Markdown|Parquet|Arrow|ArrowStream)$/i;

/** The trailing FORMAT, which is dropped: the request sets the format. `at` is a byte offset in the canonical text. */
export interface TrailingFormat {
  readonly name: string;
  readonly at: number;
}

/** Checks the first word of the original text, because the engine rewrites the statement `TABLE t` to a SELECT. Throws `Refused` (`not_select`). */
export function checkFirstWord(written: readonly Token[], canonical: readonly Token[]): void {
  const first = written.find(({ kind }) => kind !== 'OpeningRoundBracket' && kind !== 'Comment');
  checkBeginning(first, /^(SELECT|WITH|FROM)$/i);
  checkBeginning(
    canonical.find(({ kind }) => kind !== 'OpeningRoundBracket'),
    /^(SELECT|WITH)$/,
  );
}

function checkBeginning(first: Token | undefined, words: RegExp): void {
  if (first === undefined) refuse('empty');
  if (first.kind === 'BareWord' && words.test(first.text)) return;
  refuse('not_select', { near: first.text, hint: 'Begin with SELECT or WITH.' });
}

/** Throws `Refused` (`not_select`, `syntax`). */
export function checkKinds(tokens: readonly Token[]): void {
  for (const token of tokens) checkKind(token);
}

/** Throws `Refused` (`identifier`). */
export function checkQuotedNames(tokens: readonly Token[]): void {
  for (const token of tokens) checkName(token);
}

/** Throws `Refused` (`forbidden_clause`, `settings`, `function`). */
export function checkClauses(tokens: readonly Token[]): void {
  for (const at of tokens.keys()) checkClause(tokens, at);
}

/** Throws `Refused` (`identifier`). */
export function checkRawLiterals(tokens: readonly Token[]): void {
  for (const at of tokens.keys()) checkRawLiteral(tokens, at);
}

function checkKind({ kind, text }: Token): void {
  if (kind === 'Semicolon')
    refuse('not_select', { near: text, hint: 'Send one statement without a semicolon.' });
  if (FORBIDDEN_KINDS.has(kind) || kind.startsWith('Error')) refuse('syntax', { near: text });
}

function checkName({ kind, text }: Token): void {
  if (kind !== 'QuotedIdentifier') return;
  const name = text.slice(1, -1);
  if (!RAW_UNSAFE.test(name) && !hasInvisible(name)) return;
  refuse('identifier', {
    near: text,
    hint: 'Quoted names may hold no comma, quote, backslash, control or other invisible character.',
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
  // `FROM t STREAM`; after AS it is a name.
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
  // The pattern of a comparison is printed quoted and may hold anything; only a LIKE that selects columns follows an asterisk.
  if (isPattern && /^(LIKE|ILIKE|REGEXP)$/.test(before?.text ?? '') && tokens[at - 2]?.kind !== 'Asterisk')
    return;
  // A doubled backslash is one literal backslash, which patterns need; any other escape could be any character.
  if (!token.text.replaceAll('\\\\', '').includes('\\')) return;
  refuse('identifier', {
    near: token.text,
    hint: 'A pattern of column names may hold no escaped character but a doubled backslash.',
  });
}

/**
 * FORMAT is last: in canonical text only SETTINGS can follow it, and those are refused. Throws `Refused` (`forbidden_clause`) for a
 * format that is not merely a form of the answer, such as Null, unless it is kept for the surface to judge.
 */
export function trailingFormat(tokens: readonly Token[], isKept = false): TrailingFormat | null {
  const name = tokens.at(-1);
  const word = tokens.at(-2);
  if (word?.kind !== 'BareWord' || word.text !== 'FORMAT' || !isName(name) || name === undefined) return null;
  // `SELECT a AS FORMAT b` does not parse, so a trailing FORMAT x is always the clause.
  const format = name.text.replace(/[`"]/g, '');
  if (!isKept && !FORMAT_DROPPED.test(format))
    refuse('forbidden_clause', {
      near: name.text,
      hint: 'Leave FORMAT out and choose `format` in the request.',
    });
  return { name: format, at: word.at };
}

/** Removes the FORMAT of the caller's own text, which may stand before its SETTINGS. */
export function withoutFormat(caller: CallerText): Piece[] {
  const at = caller.keywords.findLastIndex((token) => isWord(token, 'FORMAT'));
  const [word, name] = [caller.tokens[at], caller.tokens[at + 1]];
  return word === undefined || name === undefined ? [] : [caller.removal(word, name)];
}

/** WITH ROLLUP in place of each WITH TOTALS. */
export function rollupForTotals({ keywords }: CallerText): Piece[] {
  return keywords.flatMap((token, at) =>
    isWord(token, 'TOTALS') && isWord(keywords[at - 1], 'WITH') ? [replacement(token, 'ROLLUP')] : [],
  );
}

/** SAMPLE, and a PREWHERE that was not read as WHERE, parse but do not work on views. Throws `Refused` (`forbidden_clause`). */
export function checkViewClauses(root: TreeNode): void {
  for (const node of walk(root)) {
    if (node.section === 'PREWHERE') {
      refuse('forbidden_clause', {
        near: 'PREWHERE',
        detail: 'PREWHERE does not work on the public tables, which are views.',
        hint: 'Write WHERE: the engine moves conditions forward by itself.',
      });
    }
    // The engine ignores SAMPLE on a view and reads every row (tried on 26.7.2.1), so an extrapolated figure would be wrong.
    if (node.attributes.has('sample_size')) {
      refuse('forbidden_clause', {
        near: 'SAMPLE',
        detail: 'SAMPLE does not work on the public tables, which are views.',
        hint: 'Sample by a hash: WHERE cityHash64(payer) % 10 = 0 keeps a tenth of the payers.',
      });
    }
  }
}

/** Whether the query has WITH TOTALS. None of our formats has a place for its row. */
export function hasTotals(root: TreeNode): boolean {
  return [...walk(root)].some(({ attributes }) => attributes.has('is_group_by_with_totals'));
}
