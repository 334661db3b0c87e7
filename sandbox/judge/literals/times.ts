import type { ColumnMeanings, TimeKind } from '../columns.ts';
import type { Token } from '../parser.ts';
import { attribute, listIn, type TreeNode, walk } from '../query-tree.ts';
import { refuse } from '../refusal.ts';
import { functionName } from '../scope.ts';
import { comparisons, constantTexts } from './constants.ts';

/** Times as ISO 8601 writes them, which the engine reads in calls such as toDateTime('…') and in no comparison and no parameter. */

export interface IsoTime {
  readonly unixSeconds: number;
  /** Digits behind the second, without zeros at the end; '' for a whole second. */
  readonly fraction: string;
}

const ISO =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(Z|UTC|[+-]\d{2}(?::?\d{2})?)?$/i;
/** What the engine reads by itself, as UTC. */
const PLAIN = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}$/;
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;

/** Without an offset it is UTC, as every time here. Undefined for what is no such time, or what the engine reads by itself. */
export function isoTimeOf(text: string): IsoTime | undefined {
  if (PLAIN.test(text)) return undefined;
  const [, date, minutes, seconds = '00', fraction = '', zone = 'Z'] = ISO.exec(text) ?? [];
  const written = `${date}T${minutes}:${seconds}`;
  const ms = Date.parse(`${written}Z`);
  // Dates that no month has come round into the next one.
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, written.length) !== written) return undefined;
  const unixSeconds = (ms - offsetMinutes(zone) * MINUTE_MS) / SECOND_MS;
  return unixSeconds < 0 ? undefined : { unixSeconds, fraction: fraction.replace(/0+$/, '') };
}

function offsetMinutes(zone: string): number {
  const [, sign, hours, minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? [];
  return sign === undefined ? 0 : Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes));
}

/** `2026-11-20 00:00:00`, in UTC. */
export function secondText({ unixSeconds }: IsoTime): string {
  return new Date(unixSeconds * SECOND_MS).toISOString().slice(0, 19).replace('T', ' ');
}

/** The day that begins at this time in UTC; undefined where none does. */
export function dayText(time: IsoTime): string | undefined {
  const [day, clock] = secondText(time).split(' ');
  return clock === '00:00:00' && time.fraction === '' ? day : undefined;
}

/**
 * ISO 8601 times where a column of times is compared with them: `block_time >= '2026-11-20T00:00:00Z'`. The engine has no setting
 * for it (tried on 26.7.2.1), so the constant is written in its own form. One that stands elsewhere too, where it may be a text like
 * any other, is left as it is.
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

/** What to write instead, by the text. */
function plainTimes(root: TreeNode, meanings: ColumnMeanings): ReadonlyMap<string, string> {
  const written = countsOf(constantTexts(root).filter((text) => isoTimeOf(text) !== undefined));
  if (written.size === 0) return new Map();
  const uses: { readonly text: string; readonly plain: string }[] = [];
  for (const { expression, texts } of comparisons(root)) {
    const kind = meanings.timeOf(expression);
    if (kind === undefined) continue;
    for (const text of texts) {
      const time = isoTimeOf(text);
      const plain = time === undefined ? undefined : plainTime(time, kind);
      if (plain !== undefined) uses.push({ text, plain });
    }
  }
  const compared = countsOf(uses.map(({ text }) => text));
  return new Map(
    uses
      .filter(({ text, plain }) => uses.every((other) => other.text !== text || other.plain === plain))
      .filter(({ text }) => compared.get(text) === written.get(text))
      .map(({ text, plain }) => [text, plain]),
  );
}

/** As the engine writes it in canonical text. A part of a second needs a type that has it, which the index understands too. */
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
 * `CASE block_time WHEN '2026-11-20 12:00:00' THEN …` and `transform` find no time that is written as a text, and say nothing about it
 * (tried on 26.7.2.1 with DateTime and Date): the answer would be the ELSE of every row.
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
  // CASE x WHEN a THEN b … ELSE c: every second argument is a value, save the last of them all.
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

/** Of a constant, or of a list that holds some; what a call makes of a text is no text. */
function writtenTexts(node: TreeNode): string[] {
  if (node.kind === 'CONSTANT') return constantTexts(node);
  return attribute(node, 'function_name') === 'array' ? listIn(node, 'ARGUMENTS').flatMap(writtenTexts) : [];
}
