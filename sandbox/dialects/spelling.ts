import type { Dialect } from './dialects.ts';
import {
  afterBracket,
  type DialectToken,
  type Quoting,
  quoteText,
  solid,
  tokensOf,
  valueOfText,
  wordsAt,
} from './tokens.ts';

/**
 * Writes the constructs that a grammar of the library does not read in a form that all four read, before the text is parsed. The
 * order, the limit and the condition of an aggregate become calls of marker functions among its arguments, which rules/aggregates.ts reads.
 */

const QUOTING: Readonly<Record<Dialect, Quoting>> = {
  postgresql: { doubleQuotedTexts: false, backslashes: false },
  trino: { doubleQuotedTexts: false, backslashes: false },
  bigquery: { doubleQuotedTexts: true, backslashes: true },
  mysql: { doubleQuotedTexts: true, backslashes: true },
};

/** No public name starts like this. */
export const MARKERS = {
  distinct: 'si_distinct',
  order: 'si_order',
  descending: 'si_order_desc',
  limit: 'si_limit',
  filter: 'si_filter',
  same: 'si_same',
  groupByAll: 'si_group_by_all',
  power: 'si_power',
  columns: 'si_columns',
} as const;

/** Before the name of an aggregate whose clauses have become arguments. */
export const MARKED_PREFIX = 'si_';

export function respell(text: string, dialect: Dialect): string {
  const quoting = QUOTING[dialect];
  let tokens = tokensOf(text, quoting).map((token, at, all) => plainToken(token, all[at - 1], quoting));
  for (const step of STEPS) tokens = replaced(tokens, step);
  return joined(tokens).replace(/;\s*$/, '');
}

function joined(tokens: readonly DialectToken[]): string {
  return tokens.map(({ text }) => text).join('');
}

/** From this many digits a hexadecimal number is an address or a hash: Trino writes both without quotes. */
const HASH_MIN_DIGITS = 16;

/** Up to here a number is written without an exponent. */
const EXPONENT_MAX = 1e21;

function plainToken(token: DialectToken, before: DialectToken | undefined, quoting: Quoting): DialectToken {
  const { kind, text } = token;
  if (kind === 'space') return { kind, text: ' ' };
  if (kind === 'number' && /^0x/i.test(text) && text.length >= HASH_MIN_DIGITS + 2)
    return { kind: 'text', text: quoteText(text.toLowerCase()) };
  // Some grammars read the exponent as a name.
  if (kind === 'number' && /^[\d.]+e\+?\d+$/i.test(text) && Number(text) < EXPONENT_MAX)
    return { kind, text: String(Number(text)) };
  // A raw text: its backslashes are part of it.
  if (kind === 'text' && /^[rR]$/.test(before?.text ?? ''))
    return { kind, text: quoteText(text.slice(1, -1)) };
  if (kind === 'text') return { kind, text: quoteText(valueOfText(text, quoting)) };
  if (kind === 'word' && /^[rR]$/.test(text)) return token;
  return token;
}

/** Replaces what starts at a token: the new tokens, and the index after what they replace. Null where nothing is to replace. */
type Step = (tokens: readonly DialectToken[], at: number) => Replacement | null;
interface Replacement {
  readonly by: readonly DialectToken[];
  readonly next: number;
}

function replaced(tokens: readonly DialectToken[], step: Step): DialectToken[] {
  const out: DialectToken[] = [];
  for (let at = 0; at < tokens.length; ) {
    const found = tokens[at]?.kind === 'space' ? null : step(tokens, at);
    if (found === null) {
      out.push(...tokens.slice(at, at + 1));
      at += 1;
    } else {
      out.push(...found.by);
      at = found.next;
    }
  }
  return out;
}

const raw = (text: string): DialectToken => ({ kind: 'mark', text });

/** `r'…'`: the mark goes, the text has been read. */
const rawTexts: Step = (tokens, at) => {
  const isMark = /^[rR]$/.test(tokens[at]?.text ?? '') && tokens[at]?.kind === 'word';
  return isMark && tokens[at + 1]?.kind === 'text' ? { by: [], next: at + 1 } : null;
};

/** `FETCH FIRST 10 ROWS ONLY`, `OFFSET 5 ROWS`. */
const fetchFirst: Step = (tokens, at) => {
  const after = wordsAt(tokens, at, ['FETCH', 'FIRST']) ?? wordsAt(tokens, at, ['FETCH', 'NEXT']);
  if (after !== null) {
    const count = solid(tokens, after);
    const end = wordsAt(tokens, count + 1, ['ROWS', 'ONLY']) ?? wordsAt(tokens, count + 1, ['ROW', 'ONLY']);
    return end === null ? null : { by: [raw(`LIMIT ${tokens[count]?.text ?? ''}`)], next: end };
  }
  const offset = wordsAt(tokens, at, ['OFFSET']);
  const value = offset === null ? at : solid(tokens, offset);
  const end = wordsAt(tokens, value + 1, ['ROWS']);
  return offset === null || tokens[value]?.kind !== 'number' || end === null
    ? null
    : { by: [raw(`OFFSET ${tokens[value]?.text ?? ''}`)], next: end };
};

/** Times are UTC here: the zone can go. Of another zone there is no suggestion, because the grammars lose it. */
const utcZone: Step = (tokens, at) => {
  const after = wordsAt(tokens, at, ['AT', 'TIME', 'ZONE']);
  const zone = after === null ? at : solid(tokens, after);
  return after !== null && /^'(utc|etc\/utc|gmt)'$/i.test(tokens[zone]?.text ?? '')
    ? { by: [], next: zone + 1 }
    : null;
};

const groupByAll: Step = (tokens, at) => {
  const after = wordsAt(tokens, at, ['GROUP', 'BY', 'ALL']);
  return after === null ? null : { by: [raw(`GROUP BY ${MARKERS.groupByAll}`)], next: after };
};

/** `DECIMAL '10.0'`. */
const typedNumber: Step = (tokens, at) => {
  const after = wordsAt(tokens, at, ['DECIMAL']) ?? wordsAt(tokens, at, ['NUMERIC']);
  const value = after === null ? at : solid(tokens, after);
  const number = /^'(-?\d+(?:\.\d+)?)'$/.exec(tokens[value]?.text ?? '')?.[1];
  return number === undefined || after === null ? null : { by: [raw(number)], next: value + 1 };
};

/** `a IS [NOT] DISTINCT FROM b` of plain names and constants; and MySQL's `a <=> b`. */
const distinctFrom: Step = (tokens, at) => {
  const left = operandEnd(tokens, at);
  if (left === null || tokens[at - 1]?.text === '.') return null;
  const same = wordsAt(tokens, left, ['IS', 'NOT', 'DISTINCT', 'FROM']) ?? wordsAt(tokens, left, ['<=>']);
  const other = wordsAt(tokens, left, ['IS', 'DISTINCT', 'FROM']);
  const from = same ?? other;
  if (from === null) return null;
  const start = solid(tokens, from);
  const right = operandEnd(tokens, start);
  if (right === null) return null;
  const call = `${MARKERS.same}(${joined(tokens.slice(at, left))}, ${joined(tokens.slice(start, right))})`;
  return { by: [raw(same === null ? `NOT ${call}` : call)], next: right };
};

function operandEnd(tokens: readonly DialectToken[], at: number): number | null {
  const kind = tokens[at]?.kind;
  if (kind === 'number' || kind === 'text') return at + 1;
  if (kind !== 'word' && kind !== 'name') return null;
  let end = at + 1;
  while (tokens[end]?.text === '.' && ['word', 'name'].includes(tokens[end + 1]?.kind ?? '')) end += 2;
  return tokens[end]?.text === '(' ? null : end;
}

/** `substring(x FROM 1 FOR 10)`. */
const substringFrom: Step = (tokens, at) => {
  if (!/^SUBSTR(ING)?$/i.test(tokens[at]?.text ?? '')) return null;
  const open = solid(tokens, at + 1);
  const end = tokens[open]?.text === '(' ? afterBracket(tokens, open) : null;
  if (end === null) return null;
  const inner = tokens.slice(open + 1, end - 1);
  if (
    !topLevel(inner).some(({ text }) => /^FROM$/i.test(text)) ||
    /^SELECT$/i.test(inner[solid(inner, 0)]?.text ?? '')
  )
    return null;
  const commas = inner.map((token) =>
    token.kind === 'word' && /^(FROM|FOR)$/i.test(token.text) ? raw(',') : token,
  );
  return { by: [raw('substring'), raw('('), ...commas, raw(')')], next: end };
};

/** The tokens outside of inner brackets. */
function topLevel(tokens: readonly DialectToken[]): DialectToken[] {
  let depth = 0;
  return tokens.filter(({ text }) => {
    if (text === '(' || text === '[') depth += 1;
    const isTop = depth === 0;
    if (text === ')' || text === ']') depth -= 1;
    return isTop;
  });
}

/** `a ^ b`, the power of PostgreSQL, of plain operands. */
const power: Step = (tokens, at) => {
  const left = operandEnd(tokens, at);
  if (left === null || tokens[at - 1]?.text === '.') return null;
  const sign = solid(tokens, left);
  if (tokens[sign]?.text !== '^') return null;
  const start = solid(tokens, sign + 1);
  const right = operandEnd(tokens, start);
  if (right === null) return null;
  const call = `${MARKERS.power}(${joined(tokens.slice(at, left))}, ${joined(tokens.slice(start, right))})`;
  return { by: [raw(call)], next: right };
};

/** `WITH name(a, b) AS (SELECT …`: the names become a first column, which the printer takes out again. */
const columnsOfWith: Step = (tokens, at) => {
  if (tokens[at]?.kind !== 'word') return null;
  const open = solid(tokens, at + 1);
  const end = tokens[open]?.text === '(' ? afterBracket(tokens, open) : null;
  const select = end === null ? null : wordsAt(tokens, end, ['AS', '(', 'SELECT']);
  if (end === null || select === null) return null;
  const names = joined(tokens.slice(open + 1, end - 1));
  if (!/^[\w\s,]+$/.test(names)) return null;
  const after = wordsAt(tokens, select, ['DISTINCT']);
  const lead = `${tokens[at]?.text ?? ''} AS (SELECT ${after === null ? '' : 'DISTINCT '}`;
  return { by: [raw(lead), raw(`${MARKERS.columns}(${names}), `)], next: after ?? select };
};

const ORDERED =
  /^(STRING_AGG|LISTAGG|ARRAY_AGG|GROUP_CONCAT|PERCENTILE_CONT|PERCENTILE_DISC|APPROX_PERCENTILE|MODE|ANY_VALUE)$/i;

/** An aggregate with DISTINCT, ORDER BY, LIMIT, SEPARATOR, IGNORE NULLS, WITHIN GROUP or FILTER: all become arguments. */
const markedAggregate: Step = (tokens, at) => {
  const name = tokens[at]?.text ?? '';
  if (tokens[at]?.kind !== 'word') return null;
  const open = solid(tokens, at + 1);
  const end = tokens[open]?.text === '(' ? afterBracket(tokens, open) : null;
  if (end === null) return null;
  const within = bracketAfter(tokens, end, ['WITHIN', 'GROUP']);
  const filter = bracketAfter(tokens, within?.next ?? end, ['FILTER']);
  if (within === null && filter === null && !ORDERED.test(name)) return null;
  const inner = argumentsOf(tokens.slice(open + 1, end - 1));
  const order = within === null ? [] : argumentsOf(within.inner).marks;
  const condition = filter === null ? [] : [`${MARKERS.filter}(${conditionOf(filter.inner)})`];
  const marked = [...inner.plain.filter((part) => part !== '*'), ...inner.marks, ...order, ...condition];
  const call = `${MARKED_PREFIX}${name.toLowerCase()}(${marked.join(', ')})`;
  return { by: [raw(call)], next: filter?.next ?? within?.next ?? end };
};

/** What stands in the brackets after these words. */
function bracketAfter(
  tokens: readonly DialectToken[],
  at: number,
  words: readonly string[],
): { readonly inner: readonly DialectToken[]; readonly next: number } | null {
  const after = wordsAt(tokens, at, words);
  const open = after === null ? at : solid(tokens, after);
  const next = after === null || tokens[open]?.text !== '(' ? null : afterBracket(tokens, open);
  return next === null ? null : { inner: tokens.slice(open + 1, next - 1), next };
}

function conditionOf(tokens: readonly DialectToken[]): string {
  const after = wordsAt(tokens, 0, ['WHERE']);
  return joined(tokens.slice(after ?? 0)).trim();
}

interface MarkedArguments {
  readonly plain: readonly string[];
  readonly marks: readonly string[];
}

/** The clauses inside an aggregate's brackets, by the words that start them. */
function argumentsOf(tokens: readonly DialectToken[]): MarkedArguments {
  const parts: Record<'plain' | 'order' | 'limit' | 'separator', DialectToken[]> = {
    plain: [],
    order: [],
    limit: [],
    separator: [],
  };
  let part: keyof typeof parts = 'plain';
  let depth = 0;
  let isDistinct = false;
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] ?? raw('');
    if (/^[([]$/.test(token.text)) depth += 1;
    if (/^[)\]]$/.test(token.text)) depth -= 1;
    const started: ReturnType<typeof clauseAt> = depth === 0 ? clauseAt(tokens, at) : null;
    if (started === null) parts[part].push(token);
    else {
      isDistinct ||= started.part === 'distinct';
      if (started.part !== 'distinct' && started.part !== 'dropped') part = started.part;
      at = started.next - 1;
    }
  }
  const one = (mark: string, list: readonly DialectToken[]): string[] =>
    list.length === 0 ? [] : [`${mark}(${joined(list).trim()})`];
  const separator = joined(parts.separator).trim();
  return {
    plain: [...splitAtCommas(parts.plain), ...(separator === '' ? [] : [separator])],
    marks: [
      ...(isDistinct ? [`${MARKERS.distinct}()`] : []),
      ...splitAtCommas(parts.order).map(orderMark),
      ...one(MARKERS.limit, parts.limit),
    ],
  };
}

type Started = {
  readonly part: 'order' | 'limit' | 'separator' | 'distinct' | 'dropped';
  readonly next: number;
};

const CLAUSES: readonly (readonly [Started['part'], readonly string[]])[] = [
  ['order', ['ORDER', 'BY']],
  ['limit', ['LIMIT']],
  ['separator', ['SEPARATOR']],
  ['distinct', ['DISTINCT']],
  // Aggregates leave NULLs out anyway.
  ['dropped', ['IGNORE', 'NULLS']],
];

function clauseAt(tokens: readonly DialectToken[], at: number): Started | null {
  if (tokens[at]?.kind !== 'word') return null;
  for (const [part, words] of CLAUSES) {
    const next = wordsAt(tokens, at, words);
    if (next !== null) return { part, next };
  }
  return null;
}

function splitAtCommas(tokens: readonly DialectToken[]): string[] {
  const parts: string[] = [''];
  let depth = 0;
  for (const { text } of tokens) {
    if (/^[([]$/.test(text)) depth += 1;
    if (/^[)\]]$/.test(text)) depth -= 1;
    if (text === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += text;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

const DESCENDING = /(?<!\s)\s+DESC$/i;

/** Of an item without blanks around it. */
function orderMark(item: string): string {
  const plain = item.replace(/(?<!\s)\s+NULLS\s+(?:FIRST|LAST)$/i, '').replace(/(?<!\s)\s+ASC$/i, '');
  return DESCENDING.test(plain)
    ? `${MARKERS.descending}(${plain.replace(DESCENDING, '')})`
    : `${MARKERS.order}(${plain})`;
}

const STEPS: readonly Step[] = [
  rawTexts,
  fetchFirst,
  utcZone,
  groupByAll,
  typedNumber,
  distinctFrom,
  substringFrom,
  columnsOfWith,
  power,
  markedAggregate,
];
