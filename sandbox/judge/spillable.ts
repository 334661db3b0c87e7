import { depthsOf, endOf, isWord, type Piece } from './caller-text.ts';
import { bare } from './client-text.ts';
import { columnsOf } from './columns.ts';
import type { Parsed, Token } from './parser.ts';

/**
 * DISTINCT and exact counts of different values are sets, which the engine holds in memory whole; groups go on disk where they do not fit.
 * So they are written as groups where that gives the same values: over one table, by its columns, without further clauses. The text that
 * results is judged like any other.
 */
export function spillableText({ canonical, tokens }: Parsed): string | null {
  const depths = depthsOf(tokens);
  const mayStopEarly = tokens.some((token) => isWord(token, 'LIMIT'));
  const pieces = tokens.flatMap((_, at): Piece[] => {
    const select = selectAt(tokens, depths, at);
    if (select === null) return [];
    return (mayStopEarly ? null : distinctAsGroups(select)) ?? countAsGroups(select) ?? [];
  });
  return pieces.length === 0 ? null : changed(canonical, pieces);
}

interface PlainSelect {
  readonly isOutermost: boolean;
  /** Between SELECT and FROM. */
  readonly listed: readonly Token[];
  readonly from: Token;
  /** The last token of its condition or table. */
  readonly last: Token;
  readonly columns: readonly string[];
}

const WORDS_BEHIND =
  /^(GROUP|HAVING|WINDOW|QUALIFY|ORDER|LIMIT|OFFSET|FETCH|SETTINGS|UNION|EXCEPT|INTERSECT|INTO|PREWHERE|JOIN|ARRAY|FINAL|SAMPLE)$/;

/** `SELECT … FROM table [AS name] [WHERE …]` that is the whole text, a CTE or a subquery of FROM; null for anything else. */
function selectAt(tokens: readonly Token[], depths: readonly number[], at: number): PlainSelect | null {
  if (!isWord(tokens[at], 'SELECT') || !isWhole(tokens, at)) return null;
  const depth = depths[at] ?? 0;
  const end = tokens.findIndex(
    (token, place) => place > at && ((depths[place] ?? 0) < depth || isWord(token, 'FORMAT')),
  );
  const own = tokens.slice(at, end === -1 ? tokens.length : end);
  const isOwn = (place: number): boolean => depths[at + place] === depth;
  if (own.some((token, place) => isOwn(place) && token.kind === 'BareWord' && WORDS_BEHIND.test(token.text)))
    return null;
  const from = own.findIndex((token, place) => isOwn(place) && isWord(token, 'FROM'));
  const [fromToken, table, last] = [own[from], own[from + 1], own.at(-1)];
  if (from === -1 || fromToken === undefined || table === undefined || last === undefined) return null;
  const columns = columnsOf(bare(table));
  const behind = own.slice(from + (isWord(own[from + 2], 'AS') ? 4 : 2));
  if (columns.length === 0 || (behind[0] !== undefined && !isWord(behind[0], 'WHERE'))) return null;
  return { isOutermost: depth === 0, listed: own.slice(1, from), from: fromToken, last, columns };
}

/** Neither a member of a union, nor a value that the engine computes while it plans, nor a set of IN. */
function isWhole(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1];
  if (before === undefined || before.kind === 'ClosingRoundBracket') return true;
  const place = tokens[at - 2];
  return before.kind === 'OpeningRoundBracket' && ['FROM', 'JOIN', 'AS'].some((word) => isWord(place, word));
}

/** `(SELECT DISTINCT a, b FROM t)` with a GROUP BY instead. Not outermost: there the number of rows that an answer may have ends it early. */
function distinctAsGroups({ isOutermost, listed, last, columns }: PlainSelect): Piece[] | null {
  const [distinct, ...list] = listed;
  if (isOutermost || distinct === undefined || !isWord(distinct, 'DISTINCT')) return null;
  const items = itemsOf(list);
  const names = items.map(([name]) => name?.text ?? '');
  const arePlain = items.every(
    ([name, as, alias, ...more]) =>
      name !== undefined && columns.includes(name.text) && more.length === 0 && isNewName(as, alias, columns),
  );
  if (!arePlain) return null;
  return [
    { from: distinct.at, to: list[0]?.at ?? endOf(distinct), by: '' },
    { from: endOf(last), to: endOf(last), by: ` GROUP BY ${[...new Set(names)].join(', ')}` },
  ];
}

function itemsOf(list: readonly Token[]): readonly (readonly Token[])[] {
  const items: Token[][] = [[]];
  for (const token of list) {
    if (token.kind === 'Comma') items.push([]);
    else items.at(-1)?.push(token);
  }
  return items;
}

/** No alias, or one that hides no column: in WHERE it would stand in the column's place. */
function isNewName(as: Token | undefined, alias: Token | undefined, columns: readonly string[]): boolean {
  return as === undefined || (isWord(as, 'AS') && alias !== undefined && !columns.includes(bare(alias)));
}

/** The engine prints `COUNT(DISTINCT x)` as `COUNTDistinct(x)`. */
const COUNTS = /^(uniqExact|[Cc][Oo][Uu][Nn][Tt]Distinct)$/;

/** `SELECT uniqExact(a) FROM t` as a count of groups. Like uniqExact, it leaves out rows in which a value is NULL. */
function countAsGroups({ listed, from, last, columns }: PlainSelect): Piece[] | null {
  const [name, open, ...rest] = listed;
  const close = rest.findIndex(({ kind }) => kind === 'ClosingRoundBracket');
  if (name === undefined || !COUNTS.test(name.text) || open?.kind !== 'OpeningRoundBracket') return null;
  const items = itemsOf(rest.slice(0, close));
  const names = items.map(([column]) => column?.text ?? '');
  if (!items.every(({ length }, at) => length === 1 && columns.includes(names[at] ?? ''))) return null;
  const [as, alias, ...more] = rest.slice(close + 1);
  if (more.length > 0 || !isNewName(as, alias, columns)) return null;
  // A name with a comma cannot be written.
  if (alias === undefined && names.length > 1) return null;
  const [first] = names;
  const shown = alias?.text ?? `\`${name.text}(${first})\``;
  const counted =
    names.length === 1
      ? `count(${first})`
      : `countIf(${names.map((one) => `isNotNull(${one})`).join(' AND ')})`;
  const groups = [...new Set(names)].join(', ');
  return [
    { from: name.at, to: from.at, by: `${counted} AS ${shown} FROM (SELECT ${groups} ` },
    { from: endOf(last), to: endOf(last), by: ` GROUP BY ${groups})` },
  ];
}

/** Offsets are bytes. */
function changed(text: string, pieces: readonly Piece[]): string {
  const bytes = Buffer.from(text);
  let done = 0;
  const parts = pieces
    .toSorted((a, b) => a.from - b.from)
    .map(({ from, to, by }) => {
      const kept = bytes.toString('utf8', done, from);
      done = to;
      return kept + by;
    });
  return parts.join('') + bytes.toString('utf8', done);
}
