import { createRequire } from 'node:module';
import { type Dialect, TEXT_MAX_CHARS } from './dialects.ts';
import { isNode, type Node, nodesOf, printedWhole, Untranslatable } from './nodes.ts';
import { printStatement } from './print-select.ts';
import { respell } from './spelling.ts';

/** Reads a text as one of four dialects and writes it as ClickHouse. Runs in a thread of its own: the grammars can loop and run out of memory. */

/** Of node-sql-parser: scripts/build-grammars.mjs takes four grammars out of it, which have no types of their own. */
interface Grammar {
  astify(text: string, options: { readonly database: string }): unknown;
}

const grammars = new Map<Dialect, Grammar>();
const require = createRequire(import.meta.url);

/** Loaded once, when its thread starts: each takes about 15 ms and 5 MB. */
function grammarOf(dialect: Dialect): Grammar {
  const known = grammars.get(dialect);
  if (known !== undefined) return known;
  const { Parser } = require(`./grammars/${dialect}.cjs`) as { Parser: new () => Grammar }; // its documented export
  const grammar = new Parser();
  grammars.set(dialect, grammar);
  return grammar;
}

/**
 * The text in ClickHouse's words; null where the grammar does not read it, or a part of it has no rule. A text that the dialect's own
 * grammar does not read is tried with that of PostgreSQL, which reads the most.
 */
export function translated(text: string, dialect: Dialect): string | null {
  if (text.length > TEXT_MAX_CHARS) return null;
  const spelled = respell(text, dialect);
  if (!isBalanced(spelled)) return null;
  for (const grammar of dialect === 'postgresql' ? [dialect] : ([dialect, 'postgresql'] as const)) {
    try {
      const statement = statementOf(grammarOf(grammar).astify(spelled, { database: grammar }));
      return printedWhole(statement, (watched) => printStatement(watched, dialect));
    } catch {
      // A syntax error of the grammar, or a construct without a rule. The next may read it.
    }
  }
  return null;
}

function statementOf(ast: unknown): Node {
  const statement = Array.isArray(ast) && ast.length === 1 ? nodesOf(ast)[0] : ast;
  if (!isNode(statement)) throw new Untranslatable('several statements');
  return isNode(statement['ast']) ? statement['ast'] : statement;
}

/** With brackets that are never closed, the grammars need exponential time. */
function isBalanced(spelled: string): boolean {
  let depth = 0;
  for (const [mark] of spelled.replace(/'(?:[^']|'')*'/g, '').matchAll(/[()[\]]/g)) {
    depth += mark === '(' || mark === '[' ? 1 : -1;
    if (depth < 0 || depth > BRACKETS_DEEP_MAX) return false;
  }
  return depth === 0;
}

const BRACKETS_DEEP_MAX = 40;
