import type { ColumnMeanings } from './column-meaning.ts';
import { constantTexts } from './constants.ts';
import { attribute, listIn, type TreeNode, walk } from './query-tree.ts';
import { refuse } from './refusal.ts';

/**
 * `CASE block_time WHEN '2026-11-20 12:00:00' THEN …` and `transform` find no time that is written as a text, and say nothing about it
 * (tried on 26.7.2.1 with DateTime and Date): the answer would be the ELSE of every row.
 */
const MATCHES = /^(transform|casewithexpr(ession)?)$/i;

/** Throws `Refused` (`type`). */
export function checkMatchedTimes(root: TreeNode, meanings: ColumnMeanings): void {
  for (const node of walk(root))
    if (MATCHES.test(attribute(node, 'function_name') ?? '')) checkCall(node, meanings);
}

function checkCall(node: TreeNode, meanings: ColumnMeanings): void {
  const [matched, ...others] = listIn(node, 'ARGUMENTS');
  const kind = matched === undefined ? undefined : meanings.timeOf(matched);
  if (kind === undefined) return;
  const isTransform = /^transform$/i.test(attribute(node, 'function_name') ?? '');
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
