import { type NamedQuery, tableNodes } from '../names.ts';
import { attribute, listIn, type TreeNode, walk } from '../query-tree.ts';
import { refuse } from '../refusal.ts';
import { ctesInSight, functionName } from '../scope.ts';

/**
 * How many rows a query can make of tables whose rows are known: the bound of queries that are free. Tables and subqueries multiply,
 * wherever they stand, and a CTE counts each time it is named, so it is never an underestimate; only members of a UNION add up.
 */

/** Its arrays may be as long as their text says, so that one row could become any number. */
const LONG_VALUE =
  /^(?:range|array(?:WithConstant|Resize|Shingles|Fold)|repeat|space|(?:left|right)Pad(?:UTF8)?|toFixedString|timeSlots)$|^(?:arrayReduce|bitmap|numericIndexed|random|fuzz|h3|s2|geohash|sparseGrams|timeSeries)|ngrams/i;
const ARRAY_JOIN = /^(arrayJoin|unnest)$/i;

/** Throws `Refused` (`too_complex`) for a query over tables of a policy with `freeRows`. */
export function checkFreeRows(query: NamedQuery): void {
  const free = query.policy.freeRows;
  if (free === undefined) return;
  const nodes = [...walk(query.root)];
  const joins = nodes.filter((node) => node.kind === 'ARRAY_JOIN' || ARRAY_JOIN.test(functionName(node)));
  const isLong = joins.length > 0 && nodes.some((node) => LONG_VALUE.test(functionName(node)));
  if (joins.length > 1 || isLong)
    refuseFree(
      'It may have one ARRAY JOIN, over arrays that no function makes longer than the values of a table.',
    );
  if (nodes.some(({ attributes }) => attributes.get('with_fill') === '1'))
    refuseFree('It may have no WITH FILL.');
  if (rowsMade(query, free.of) > free.max)
    refuseFree(`The rows of its tables, multiplied, may be ${free.max} at most.`);
}

function rowsMade(query: NamedQuery, rowsOfTable: ReadonlyMap<string, number>): number {
  const tables = new Set(tableNodes(query));
  const known = new Map<TreeNode, number>();
  const rowsOf = (node: TreeNode): number => {
    if (node.kind === 'UNION') return sum(listIn(node, 'QUERIES').map(rowsOf));
    let rows = own(node);
    for (const child of node.children) {
      // A CTE is counted where it is named.
      if (attribute(child, 'is_cte') !== '1') rows *= rowsOf(child);
      if (rows === Number.POSITIVE_INFINITY) return rows;
    }
    return rows;
  };
  const own = (node: TreeNode): number => {
    if (node.kind === 'TABLE_FUNCTION') return Math.max(1, listIn(node, 'ARGUMENTS').length);
    if (!tables.has(node)) return 1;
    const name = attribute(node, 'identifier') ?? '';
    const ctes = ctesInSight(node, name);
    return ctes.length > 0 ? Math.max(...ctes.map(ofCte)) : Math.max(1, rowsOfTable.get(name) ?? 1);
  };
  const ofCte = (cte: TreeNode): number => {
    const before = known.get(cte);
    if (before !== undefined) return before;
    // Of one that names itself there is no bound.
    known.set(cte, Number.POSITIVE_INFINITY);
    const rows = attribute(cte, 'is_recursive_cte') === '1' ? Number.POSITIVE_INFINITY : rowsOf(cte);
    known.set(cte, rows);
    return rows;
  };
  return rowsOf(query.root);
}

function sum(rows: readonly number[]): number {
  return rows.reduce((all, one) => all + one, 0);
}

function refuseFree(detail: string): never {
  return refuse('too_complex', {
    detail: `A question to the catalogue is free and therefore small. ${detail}`,
    hint: 'Ask for the rows of one table at a time and join them where you read them.',
  });
}
