import type { ColumnMeanings, TimeKind } from './column-meaning.ts';
import { comparisons, constantTexts } from './constants.ts';
import { dayText, type IsoTime, isoTimeOf, secondText } from './iso-time.ts';
import type { Token } from './parser.ts';
import type { TreeNode } from './query-tree.ts';

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
