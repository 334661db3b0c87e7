import { PUBLIC_TABLE_NAMES } from '../../core/domain/public-tables.ts';
import { type SettingKind, type SqlSetting, settingKind, TABLE_FILTERS } from '../policy/settings.ts';
import { type CallerText, endOf, isWord, type Piece, replacement } from './caller-text.ts';
import type { QueryWarning } from './literals/constants.ts';
import type { Parsed, QueryParameters, Token } from './parser.ts';
import { refuse } from './refusal.ts';

/**
 * What analysts and their tools write for a server of their own, and the parts that are replaced before the text is judged: SETTINGS that
 * change no answer, PREWHERE, the published name of the database, and placeholders for names (`{t:Identifier}`). Tokens of the engine's canonical text are removed or replaced; the
 * engine then parses the rest, and must print exactly that again (inspect.ts). So the judged text is one that the engine wrote.
 */

export interface PlainText {
  readonly text: string;
  readonly settings: readonly SqlSetting[];
  /** Whether a PREWHERE became a WHERE. */
  readonly hadPrewhere: boolean;
  /** Placeholders whose values are names in the text now. */
  readonly namedBy: ReadonlySet<string>;
}

/** Null where the text needs no change. `named`: databases that a server's client may name. Throws `Refused` (`settings`, `parameter`). */
export function plainText(
  { canonical, tokens }: Parsed,
  named: readonly string[],
  values: QueryParameters,
): PlainText | null {
  const edits: Piece[] = [];
  const namedBy = new Set<string>();
  const settings: SqlSetting[] = [];
  let hadPrewhere = false;
  for (const [at, token] of tokens.entries()) {
    const clause = settingsClause(tokens, at);
    if (clause !== null) {
      settings.push(...clause.settings);
      edits.push(removal(tokens, at, clause.end));
    } else if (isWord(token, 'PREWHERE') && isAfterTable(tokens[at - 1])) {
      hadPrewhere = true;
      edits.push(...whereInstead(tokens, at));
    } else if (isQualifier(tokens, at, named)) edits.push(removal(tokens, at, at + 1));
    else if (isNamePlaceholder(tokens, at)) {
      const placeholder = tokens[at + 1]?.text ?? '';
      namedBy.add(placeholder);
      edits.push(nameInstead(tokens, at, nameOf(placeholder, values)));
    }
  }
  for (const setting of settings) checkSetting(setting, named.length > 0);
  return edits.length === 0 ? null : { text: edited(canonical, edits), settings, hadPrewhere, namedBy };
}

/** Filters on tables are of the tools that speak to a server; a text of one's own has a WHERE. */
function checkSetting(setting: SqlSetting, isOfServer: boolean): SettingKind {
  const kind = setting.name === TABLE_FILTERS && !isOfServer ? null : settingKind(setting);
  if (kind !== null && kind !== 'value' && kind !== 'of_clients') return kind;
  const { name, value } = setting;
  return refuse('settings', {
    near: name,
    detail:
      kind !== 'value'
        ? `The setting ${name} is not available here.`
        : `The setting ${name} cannot be ${value.slice(0, 40)} here.`,
    hint: 'Settings may shape the answer and lower its limits. Time comes with `tier`, rows with `max_rows`, the form of the answer with `format`.',
  });
}

/** Names the settings that the run does not take over; none where all of them are limits. */
export function leftOutWarning(settings: readonly SqlSetting[], caller: CallerText): QueryWarning[] {
  const names = settings.filter(isLeftOut).map(({ name }) => name);
  if (names.length === 0) return [];
  const shown = [...new Set(names)].slice(0, NAMED_MAX).join(', ');
  return [
    {
      code: 'settings_left_out',
      message: `Left out of the query, because they change no answer: ${shown}.`,
      ...caller.edits(withoutLeftOut(caller)),
    },
  ];
}

function isLeftOut(setting: SqlSetting): boolean {
  return !/^(limit|meaning)$/.test(settingKind(setting) ?? '');
}

/** Each SETTINGS of the caller's own text with those that are kept, or removed. */
function withoutLeftOut(caller: CallerText): Piece[] {
  const { tokens, keywords } = caller;
  return keywords.flatMap((token, at) => {
    const clause = settingsClause(keywords, at);
    const last = clause === null ? undefined : tokens[clause.end];
    if (clause === null || last === undefined) return [];
    const kept = clause.starts.flatMap((start, place) => {
      const name = tokens[start];
      const value = clause.settings[place]?.value ?? '';
      if (name === undefined || isLeftOut({ name: bare(name), value })) return [];
      const next = clause.starts[place + 1];
      const written = tokens.slice(start, next === undefined ? clause.end + 1 : next - 1);
      return [written.map(({ text }) => text).join(' ')];
    });
    if (kept.length === clause.starts.length) return [];
    const removed = caller.removal(token, last);
    if (kept.length === 0) return [removed];
    return [{ ...removed, from: token.at, by: `SETTINGS ${kept.join(', ')}` }];
  });
}

/** PREWHERE was read as WHERE; the edits write it so. */
export function prewhereWarning(caller: CallerText): QueryWarning {
  const { keywords } = caller;
  const pieces = keywords.flatMap((token, at) =>
    isWord(token, 'PREWHERE') && isAfterTable(keywords[at - 1]) ? whereInstead(keywords, at) : [],
  );
  return { code: 'prewhere_as_where', ...caller.edits(pieces) };
}

/** Warnings are headers too, and short. */
const NAMED_MAX = 10;

/**
 * `SETTINGS name = literal, …`, of a query or a subquery; `starts` are the places of its names and `end` is its last token. Null for anything
 * else, which clauses.ts refuses.
 */
function settingsClause(
  tokens: readonly Token[],
  at: number,
): { readonly settings: SqlSetting[]; readonly starts: readonly number[]; readonly end: number } | null {
  const before = tokens[at - 1];
  // Behind a bracket or comma it is an argument of a table function.
  if (!isWord(tokens[at], 'SETTINGS') || before === undefined || /^(Opening|Comma)/.test(before.kind))
    return null;
  const settings: SqlSetting[] = [];
  const starts: number[] = [];
  for (let next = at + 1; ; ) {
    const [name, equals] = [tokens[next], tokens[next + 1]];
    if (!isName(name) || equals?.kind !== 'Equals') return null;
    const sign = tokens[next + 2]?.kind === 'Minus' ? '-' : '';
    const end = next + 2 + sign.length;
    const map = mapFrom(tokens, end);
    const value = map?.text ?? literalOf(tokens[end]);
    if (value === null) return null;
    settings.push({ name: bare(name), value: sign + value });
    starts.push(next);
    const last = map?.end ?? end;
    if (tokens[last + 1]?.kind !== 'Comma') return { settings, starts, end: last };
    next = last + 2;
  }
}

/** `{'name': 'text', …}` as it is written, and its last token. */
function mapFrom(
  tokens: readonly Token[],
  at: number,
): { readonly text: string; readonly end: number } | null {
  if (tokens[at]?.kind !== 'OpeningCurlyBrace') return null;
  const end = tokens.findIndex(({ kind }, index) => index > at && kind === 'ClosingCurlyBrace');
  const inside = tokens.slice(at, end + 1);
  const isMap = inside.every(({ kind }) => /^(StringLiteral|Colon|Comma|\w+CurlyBrace)$/.test(kind));
  return end === -1 || !isMap ? null : { text: inside.map(({ text }) => text).join(''), end };
}

function literalOf(token: Token | undefined): string | null {
  if (token?.kind === 'Number') return token.text;
  if (token?.kind === 'StringLiteral') return token.text.includes('\\') ? null : token.text.slice(1, -1);
  return token?.kind === 'BareWord' && /^(true|false)$/i.test(token.text) ? token.text.toLowerCase() : null;
}

/** Words with which a clause begins that can follow WHERE in one query, or a query that can follow it. */
const AFTER_WHERE =
  /^(GROUP|HAVING|WINDOW|QUALIFY|ORDER|LIMIT|OFFSET|FETCH|SETTINGS|UNION|EXCEPT|INTERSECT|FORMAT|INTO)$/;

/** PREWHERE becomes WHERE; with a WHERE behind it, both conditions are joined by AND. */
function whereInstead(tokens: readonly Token[], at: number): Piece[] {
  const prewhere = replacement(tokens[at], 'WHERE');
  const where = endOfClause(tokens, at + 1, (token) => isWord(token, 'WHERE') || isAfterWhere(token));
  if (!isWord(tokens[where], 'WHERE')) return [prewhere];
  const end = endOfClause(tokens, where + 1, isAfterWhere);
  const last = tokens[end - 1];
  if (last === undefined) return [prewhere];
  const behind = endOf(last);
  return [
    { ...prewhere, by: 'WHERE (' },
    replacement(tokens[where], ') AND ('),
    { from: behind, to: behind, by: ')' },
  ];
}

function isAfterWhere(token: Token): boolean {
  if (token.kind === 'Semicolon') return true;
  return token.kind === 'BareWord' && AFTER_WHERE.test(token.text);
}

/** The first token from `at` on that ends the clause, at the same depth; the number of tokens where none does. */
function endOfClause(tokens: readonly Token[], at: number, ends: (token: Token) => boolean): number {
  let depth = 0;
  for (let next = at; next < tokens.length; next += 1) {
    const token = tokens[next];
    if (token === undefined) break;
    if (token.kind.startsWith('Opening')) depth += 1;
    else if (token.kind.startsWith('Closing')) depth -= 1;
    if (depth < 0 || (depth === 0 && ends(token))) return next;
  }
  return tokens.length;
}

/** `{name:Identifier}`, which is five tokens. */
function isNamePlaceholder(tokens: readonly Token[], at: number): boolean {
  const kinds = tokens.slice(at, at + NAME_PLACEHOLDER_TOKENS).map(({ kind }) => kind);
  return (
    kinds.join(' ') === 'OpeningCurlyBrace BareWord Colon BareWord ClosingCurlyBrace' &&
    tokens[at + 3]?.text === 'Identifier'
  );
}

const NAME_PLACEHOLDER_TOKENS = 5;
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}(?:\.[A-Za-z_][A-Za-z0-9_]{0,63})?$/;

/** The value in quotes, so that no name is read as a keyword. */
function nameOf(placeholder: string, values: QueryParameters): string {
  const value = Object.hasOwn(values, placeholder) ? values[placeholder] : undefined;
  if (value === undefined)
    return refuse('parameter', {
      near: placeholder,
      detail: `The query names {${placeholder}:Identifier}, but params has no ${placeholder}.`,
    });
  if (!NAME.test(value))
    return refuse('parameter', {
      near: placeholder,
      detail: `The value of ${placeholder} is no name of a table or column: letters, digits and _, with one dot at most.`,
    });
  return value
    .split('.')
    .map((part) => `\`${part}\``)
    .join('.');
}

function nameInstead(tokens: readonly Token[], at: number, by: string): Piece {
  const [first, last] = [tokens[at], tokens[at + NAME_PLACEHOLDER_TOKENS - 1]];
  if (first === undefined || last === undefined) throw new Error('an edit behind the end of a text');
  return { from: first.at, to: endOf(last), by };
}

/** `default.` before a public table, in a table's place or before a column: the tokens of the name and the dot. */
function isQualifier(tokens: readonly Token[], at: number, named: readonly string[]): boolean {
  const [database, dot, table] = [tokens[at], tokens[at + 1], tokens[at + 2]];
  if (!isName(database) || dot?.kind !== 'Dot' || !isName(table)) return false;
  if (tokens[at - 1]?.kind === 'Dot' || !named.includes(bare(database))) return false;
  return TABLES.has(bare(table));
}

const TABLES: ReadonlySet<string> = new Set(PUBLIC_TABLE_NAMES);

/** What a PREWHERE stands behind: a table, its alias, FINAL or a bracket; not AS, which makes it a name. */
function isAfterTable(token: Token | undefined): boolean {
  if (token?.kind === 'ClosingRoundBracket') return true;
  return isName(token) && !/^(AS|SELECT|DISTINCT|BY)$/.test(token.text);
}

function isName(token: Token | undefined): token is Token {
  return token?.kind === 'BareWord' || token?.kind === 'QuotedIdentifier';
}

export function bare({ kind, text }: Token): string {
  return kind === 'QuotedIdentifier' ? text.slice(1, -1) : text;
}

/** From the end of the token before, so that no second space stays; a name is removed up to its table. */
function removal(tokens: readonly Token[], first: number, last: number): Piece {
  const [from, to, before] = [tokens[first], tokens[last], tokens[first - 1]];
  if (from === undefined || to === undefined) throw new Error('an edit behind the end of a text');
  if (to.kind === 'Dot') return { from: from.at, to: endOf(to), by: '' };
  return { from: before === undefined ? from.at : endOf(before), to: endOf(to), by: '' };
}

/** The text with its pieces replaced. */
export function edited(canonical: string, edits: readonly Piece[]): string {
  const bytes = Buffer.from(canonical);
  const parts: string[] = [];
  let done = 0;
  for (const { from, to, by } of [...edits].sort((one, other) => one.from - other.from)) {
    parts.push(bytes.subarray(done, from).toString('utf8'), by);
    done = to;
  }
  return [...parts, bytes.subarray(done).toString('utf8')].join('').trim();
}
