import type { FunctionCatalogue } from '../../policy/policy.ts';
import type { ColumnMeanings } from '../columns.ts';
import { attribute, listIn, type TreeNode, walk } from '../query-tree.ts';
import { functionName } from '../scope.ts';
import { STEPS_OF_A_ROW } from './function-time.ts';

/** Of the keys of a group together; then they take more than the table that finds them, and do not grow when it does. */
const LONG_KEYS_CHARS = 64;
/** The shortest address, of Solana. */
const ADDRESS_CHARS = 32;
const TRANSACTION_CHARS = 64;

/**
 * Whether the query groups, by long keys alone, and keeps nothing but numbers and single values of each group: such a query may hold more in
 * memory before it goes on disk (clickhouse/guest/memory.ts). By names: a wrong answer costs memory, which is bounded in any case.
 */
export function hasLongKeys(
  root: TreeNode,
  meanings: ColumnMeanings,
  functions: Pick<FunctionCatalogue, 'costOf'>,
): boolean {
  const nodes = [...walk(root)];
  const groups = nodes.filter(({ kind }) => kind === 'QUERY').map((query) => listIn(query, 'GROUP BY'));
  const charsOf = (key: TreeNode): number => {
    if (attribute(key, 'identifier') === 'tx_hash') return TRANSACTION_CHARS;
    return meanings.walletIdOf(key) === undefined ? 0 : ADDRESS_CHARS;
  };
  const grouped = groups.filter(({ length }) => length > 0);
  const areLong = grouped.every(
    (keys) => keys.reduce((sum, key) => sum + charsOf(key), 0) >= LONG_KEYS_CHARS,
  );
  return grouped.length > 0 && areLong && nodes.every((node) => keepsLittle(functionName(node), functions));
}

function keepsLittle(name: string, functions: Pick<FunctionCatalogue, 'costOf'>): boolean {
  return functions.costOf(name)?.aggregate !== true || STEPS_OF_A_ROW.test(name);
}
