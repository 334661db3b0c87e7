import { attribute, listIn, type TreeNode } from './query-tree.ts';
import { refuse } from './refusal.ts';

/**
 * The first argument of `values` is SQL in a text: the engine takes whole column declarations there, and
 * `values('x UInt8, y String ALIAS file(''/etc/passwd'')', 1)` read files of the host as the guest (tried on 26.7.2.1). Names and
 * types may stand there, nothing else.
 */

/** What a list of names and types is made of: no comment, no quoted name, no operator. */
const PIECE = /\s+|[A-Za-z_]\w*|-?\d+|'[^'\\]*'|[(),=]/y;
/** A text that no engine can take for a declaration, which is a name and something behind it. */
const SINGLE_WORD = /^[\w.:-]*$/;
const DECLARATION = /^(alias|default|materialized|ephemeral)$/i;
const WORD = /^[A-Za-z_]/;
const TEXT_CONSTANT = /^constant_value: '(.*)', constant_value_type: String$/s;

/** `values(…)`, and `(VALUES …)` in a table's place, which the engine calls otherwise and reads alike. */
export function isValues(node: TreeNode): boolean {
  return /^(sqlstandard)?values$/i.test(attribute(node, 'table_function_name') ?? '');
}

/** Throws `Refused` (`table_function`). */
export function checkStructure(node: TreeNode): void {
  if (!isValues(node)) return;
  const [first] = listIn(node, 'ARGUMENTS');
  if (first === undefined || isPlain(first)) return;
  refuse('table_function', {
    near: 'values',
    detail: 'values begins with names and types in one text, or with a row.',
    hint: "Write values('name String, amount UInt64', ('a', 1), ('b', 2)).",
  });
}

/** Whether an argument is a row, or a text that declares no more than names and types. */
function isPlain(argument: TreeNode): boolean {
  // A name could stand for a text that is declared elsewhere.
  if (argument.kind !== 'CONSTANT') return attribute(argument, 'function_name') === 'tuple';
  if (!argument.rest.startsWith("constant_value: '")) return true;
  const printed = TEXT_CONSTANT.exec(argument.rest)?.[1];
  const text = printed?.replaceAll("\\'", "'");
  if (text === undefined || text.includes('\\')) return false;
  return SINGLE_WORD.test(text) || isNamesAndTypes(text);
}

/** `name Type, name Type(…)`: exactly two words for each column, what is in parentheses belonging to the type. */
function isNamesAndTypes(text: string): boolean {
  const pieces = piecesOf(text);
  if (pieces === undefined || pieces.some((piece) => DECLARATION.test(piece))) return false;
  let depth = 0;
  let column: string[] = [];
  const columns = [column];
  for (const piece of pieces) {
    if (piece === ')') depth -= 1;
    if (depth === 0 && piece === ',') {
      column = [];
      columns.push(column);
    } else if (depth === 0) column.push(piece);
    if (piece === '(') depth += 1;
  }
  return (
    depth === 0 &&
    columns.every((words) => /^\w+ \w+( \( \))?$/.test(words.join(' ')) && words.every(isWordOrBracket))
  );
}

function isWordOrBracket(piece: string): boolean {
  return WORD.test(piece) || piece === '(' || piece === ')';
}

function piecesOf(text: string): string[] | undefined {
  const pieces: string[] = [];
  PIECE.lastIndex = 0;
  while (PIECE.lastIndex < text.length) {
    const piece = PIECE.exec(text)?.[0];
    if (piece === undefined) return undefined;
    if (piece.trim() !== '') pieces.push(piece);
  }
  return pieces;
}
