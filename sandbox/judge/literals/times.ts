import type { ColumnMeanings, TimeKind } from '../columns.ts';
import type { Token } from '../parser.ts';
import { attribute, listIn, type TreeNode, walk } from '../query-tree.ts';
import { refuse } from '../refusal.ts';
import { functionName } from '../scope.ts';
import { comparisons, constantTexts } from './constants.ts';

/** ISO 8601 times. The engine reads them in calls such as toDateTime('…'), but not in comparisons or parameters. */

export interface IsoTime {
  readonly unixSeconds: number;
  /** Fractional digits of the second, without trailing zeros; '' for a whole second. */
  readonly fraction: string;
}

const ISO =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(Z|UTC|[+-]\d{2}(?::?\d{2})?)?$/i;
/** The formats that the engine reads itself, as UTC. */
const PLAIN = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}$/;
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

/** UTC if it has no offset. Undefined for a text that is no ISO 8601 time, or that the engine reads itself. */
export function isoTimeOf(text: string): IsoTime | undefined {
  if (PLAIN.test(text)) return undefined;
  const parts = ISO.exec(text);
  if (parts === null) return undefined;
  const [, date, minutes, seconds = '00', fraction = '', zone = 'Z'] = parts;
  const written = `${date}T${minutes}:${seconds}`;
  const ms = Date.parse(`${written}Z`);
  // An invalid day of the month rolls over into the next month.
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, written.length) !== written) return undefined;
  const unixSeconds = (ms - offsetMinutes(zone) * MINUTE_MS) / SECOND_MS;
  return unixSeconds < 0 ? undefined : { unixSeconds, fraction: fraction.replace(/(?<!0)0+$/, '') };
}

function offsetMinutes(zone: string): number {
  const [, sign, hours, minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? [];
  return sign === undefined ? 0 : Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes));
}

/** `2026-11-20 00:00:00`, in UTC. */
export function secondText({ unixSeconds }: IsoTime): string {
  return new Date(unixSeconds * SECOND_MS).toISOString().slice(0, 19).replace('T', ' ');
}

/** The day that begins at this time in UTC; undefined if it is not midnight. */
export function dayText(time: IsoTime): string | undefined {
  const [day, clock] = secondText(time).split(' ');
  return clock === '00:00:00' && time.fraction === '' ? day : undefined;
}

/**
 * Rewrites ISO 8601 constants that are compared with a time column: `block_time >= '2026-11-20T00:00:00Z'`. The engine has no setting
 * that accepts them (tried on 26.7.2.1), so the constant is rewritten to the engine's format. A constant that also occurs elsewhere,
 * where it may be plain text, is left unchanged.
 */
export function withPlainTimes(
  canonical: string,
  tokens: readonly Token[],
  root: TreeNode,
  meanings: ColumnMeanings,
): string {
  const replaced = plainTimes(root, meanings);
  if (replaced.size === 0) return canonical;
  const bytes = Buffer.from(canonical);
  const parts: Buffer[] = [];
  let from = 0;
  for (const { kind, text, at } of tokens) {
    const plain = kind === 'StringLiteral' ? replaced.get(text.slice(1, -1)) : undefined;
    if (plain === undefined || at >= bytes.length) continue;
    parts.push(bytes.subarray(from, at), Buffer.from(plain));
    from = at + Buffer.byteLength(text);
  }
  return Buffer.concat([...parts, bytes.subarray(from)]).toString('utf8');
}

/** Replacements by original text; none where two places need different ones. */
function plainTimes(root: TreeNode, meanings: ColumnMeanings): ReadonlyMap<string, string> {
  const plains = new Map<string, string | undefined>();
  const uses: string[] = [];
  for (const { expression, texts } of comparisons(root)) {
    const kind = meanings.timeOf(expression);
    if (kind === undefined) continue;
    for (const text of texts) {
      const time = isoTimeOf(text);
      const plain = time === undefined ? undefined : plainTime(time, kind);
      if (plain === undefined) continue;
      uses.push(text);
      plains.set(text, !plains.has(text) || plains.get(text) === plain ? plain : undefined);
    }
  }
  if (uses.length === 0) return new Map();
  const written = countsOf(constantTexts(root));
  const compared = countsOf(uses);
  return new Map(
    [...plains].flatMap(([text, plain]) =>
      plain !== undefined && compared.get(text) === written.get(text) ? [[text, plain] as const] : [],
    ),
  );
}

/** In the form of canonical text. A fractional second needs a cast to a type that has fractions, which the index supports too. */
function plainTime(time: IsoTime, kind: TimeKind): string | undefined {
  if (kind === 'day') {
    const day = dayText(time);
    return day === undefined ? undefined : `'${day}'`;
  }
  const { fraction } = time;
  return fraction === ''
    ? `'${secondText(time)}'`
    : `toDateTime64('${secondText(time)}.${fraction}', ${fraction.length}, 'UTC')`;
}

function countsOf(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

/**
 * `CASE block_time WHEN '2026-11-20 12:00:00' THEN …` and `transform` silently never match a time given as a text (tried on 26.7.2.1
 * with DateTime and Date): every row would get the ELSE.
 */
const MATCHES = /^(transform|casewithexpr(ession)?)$/i;

/** Throws `Refused` (`type`). */
export function checkMatchedTimes(root: TreeNode, meanings: ColumnMeanings): void {
  for (const node of walk(root)) if (MATCHES.test(functionName(node))) checkCall(node, meanings);
}

function checkCall(node: TreeNode, meanings: ColumnMeanings): void {
  const [matched, ...others] = listIn(node, 'ARGUMENTS');
  const kind = matched === undefined ? undefined : meanings.timeOf(matched);
  if (kind === undefined) return;
  const isTransform = /^transform$/i.test(functionName(node));
  // CASE x WHEN a THEN b … ELSE c: every second argument is a value, except the last argument.
  const values = others.filter((_, at) => (isTransform ? at === 0 : at % 2 === 0 && at < others.length - 1));
  const [text] = values.flatMap(writtenTexts);
  if (text === undefined) return;
  const make = kind === 'time' ? 'toDateTime' : 'toDate';
  refuse('type', {
    near: isTransform ? 'transform' : 'CASE',
    detail:
      'A time that is written as a text equals none here: CASE x WHEN … and transform compare without converting it.',
    hint: `Write CASE WHEN x = '${text}' THEN …, or ${make}('${text}').`,
  });
}

/** The text in a constant, or in a list that contains constants; a call on a text is not a text. */
function writtenTexts(node: TreeNode): string[] {
  if (node.kind === 'CONSTANT') return constantTexts(node);
  return attribute(node, 'function_name') === 'array' ? listIn(node, 'ARGUMENTS').flatMap(writtenTexts) : [];
}
