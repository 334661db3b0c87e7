import { attribute, listIn, type TreeNode, walk } from './query-tree.ts';
import { argumentNames, isTablePlace } from './scope.ts';

/**
 * What each name that a query declares may stand for, wherever it stands: more than the engine sees at any one place, so that
 * what is found too large here may be small, and never the other way round.
 */
export interface NamedValue {
  readonly node: TreeNode;
  /** A lambda is given the elements of the arrays beside it. */
  readonly isElement: boolean;
}

/** An argument whose values cannot be told is null. */
export type NamedValues = ReadonlyMap<string, readonly (NamedValue | null)[]>;

export function namedValues(root: TreeNode): NamedValues {
  const named = new Map<string, (NamedValue | null)[]>();
  for (const node of walk(root))
    for (const [name, value] of declaredAt(node)) named.set(name, [...(named.get(name) ?? []), value]);
  return named;
}

type Declared = readonly [string, NamedValue | null];

function declaredAt(node: TreeNode): Declared[] {
  const alias = attribute(node, 'alias');
  const replaced = /^REPLACEMENT NAME (.*) EXPRESSION$/.exec(node.section)?.[1];
  // An alias of a table is no value.
  const names = [isTablePlace(node) ? undefined : alias, replaced].filter((name) => name !== undefined);
  return [
    ...names.map((name): Declared => [name, { node, isElement: false }]),
    ...(node.kind === 'UNION' ? unitedValues(node) : []),
    ...(node.kind === 'LAMBDA' ? argumentValues(node) : []),
  ];
}

function argumentValues(lambda: TreeNode): Declared[] {
  const isCalled = lambda.parent?.kind === 'LIST' && lambda.parent.parent?.kind === 'FUNCTION';
  const arrays = isCalled ? (lambda.parent?.children ?? []).filter((one) => one !== lambda) : [];
  return argumentNames(lambda).flatMap((name): Declared[] =>
    arrays.length === 0 ? [[name, null]] : arrays.map((node) => [name, { node, isElement: true }]),
  );
}

/** The first query of a union names the columns of all. */
function unitedValues(union: TreeNode): Declared[] {
  const entries = projectionsOf(union);
  const names = entries.flatMap((one) => attribute(one, 'alias') ?? attribute(one, 'identifier') ?? []);
  return names.flatMap((name) =>
    entries
      .filter((one) => one.kind !== 'IDENTIFIER' || attribute(one, 'identifier') !== name)
      .map((node): Declared => [name.split('.').at(-1) ?? '', { node, isElement: false }]),
  );
}

function projectionsOf(node: TreeNode): TreeNode[] {
  return node.kind === 'UNION'
    ? listIn(node, 'QUERIES').flatMap(projectionsOf)
    : [...listIn(node, 'PROJECTION')];
}
