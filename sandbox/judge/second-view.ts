import { refuse } from './refusal.ts';
import type { TreeFacts } from './tree.ts';

/**
 * The self-check: `EXPLAIN AST` prints the same text through another path of the engine. Every table and function that it shows
 * must have been judged in the tree; a name that only it shows would be a blind spot of ours (sandbox.md C, 5).
 */

const TABLE_LINE = /^ *TableIdentifier (.+?)(?: \(alias .*\))?$/;
const FUNCTION_LINE = /^ *Function (\S+)(?: \(.*\))?$/;
/** Syntax that this view prints as functions and the tree as nodes of its own. */
const SYNTAX = new Set(['lambda', 'tuple', 'array', 'exists', 'view', 'map']);

/** Throws `Refused` (`unexplained`). */
export function checkSecondView(lines: readonly string[], { named, functions }: TreeFacts): void {
  const judged = new Set(functions.map((name) => name.toLowerCase()));
  for (const line of lines) {
    const table = TABLE_LINE.exec(line)?.[1];
    if (table !== undefined && !named.has(table)) refuse('unexplained', { near: table });
    const name = FUNCTION_LINE.exec(line)?.[1];
    if (name === undefined || judged.has(name.toLowerCase()) || SYNTAX.has(name) || named.has(name)) continue;
    refuse('unexplained', { near: name });
  }
}
