import { refuse } from './refusal.ts';

/**
 * Parses the printed query tree. Strict: a line of an unknown kind ends the inspection, so that constructs of a newer engine are
 * refused until they have been reviewed. Names are read only from the start of a line up to the first attribute with free text, so
 * that no literal can pass for an attribute (docs/design/sandbox.md).
 */

export interface TreeNode {
  readonly kind: NodeKind;
  /** The section of its parent that contains it, such as `PROJECTION` or `JOIN TREE`. */
  readonly section: string;
  readonly parent: TreeNode | null;
  readonly children: TreeNode[];
  readonly attributes: ReadonlyMap<string, string>;
  /** The rest of the line after the parsed attributes: free text, for rules about literals. */
  readonly rest: string;
}

const NODE_KINDS = [
  'QUERY',
  'UNION',
  'LIST',
  'IDENTIFIER',
  'CONSTANT',
  'FUNCTION',
  'LAMBDA',
  'MATCHER',
  'TABLE_FUNCTION',
  'JOIN',
  'CROSS JOIN',
  'ARRAY_JOIN',
  'SORT',
  'WINDOW',
  'INTERPOLATE',
  'EXCEPT COLUMN TRANSFORMER',
  'REPLACE COLUMN TRANSFORMER',
  'APPLY COLUMN TRANSFORMER',
] as const;
export type NodeKind = (typeof NODE_KINDS)[number];

/** Attributes that are safe to read: each value is a bare word or a checked name. */
const NAMES = [
  'is_subquery',
  'is_cte',
  'is_recursive_cte',
  'alias',
  'cte_name',
  'identifier',
  'function_name',
  'function_type',
  'table_function_name',
  'qualified_identifier',
  'frame_type',
  'frame_begin_type',
  'frame_end_type',
] as const;
export type AttributeName = (typeof NAMES)[number];
const FREE_TEXT = new Set([
  'constant_value',
  'columns_pattern',
  'column_identifiers',
  'identifiers',
  'pattern',
  'collator',
]);

const SECTIONS =
  /^(WITH|PROJECTION|JOIN TREE|PREWHERE|WHERE|GROUP BY|HAVING|WINDOW|QUALIFY|ORDER BY|INTERPOLATE|LIMIT BY LIMIT|LIMIT BY OFFSET|LIMIT BY|LIMIT|OFFSET|ARGUMENTS|PARAMETERS|QUERIES|TABLE EXPRESSION|LEFT TABLE EXPRESSION|RIGHT TABLE EXPRESSION|JOIN EXPRESSIONS?|PARTITION BY|FRAME BEGIN OFFSET|FRAME END OFFSET|FILL FROM|FILL TO|FILL STEP|FILL STALENESS|EXPRESSION|INTERPOLATE_EXPRESSION|REPLACEMENTS \d+)$/;
/** Sections that carry a name: that of the sort expression or of the replaced column. */
const NAMED_SECTIONS = /^(EXPRESSION .*|REPLACEMENT NAME .* EXPRESSION)$/;
const NODE_LINE = /^([A-Z_]+(?: [A-Z]+)*) id: (\d+)(?:, (.*))?$/s;
const NODES_MAX = 5_000;

/** Throws `Refused` (`unexplained`, `settings`, `too_complex`). */
export function readTree(lines: readonly string[]): TreeNode {
  const open: { readonly indent: number; readonly node: TreeNode | null; readonly section: string }[] = [];
  let root: TreeNode | null = null;
  let nextId = 0;
  for (const line of lines) {
    if (line.trim() === '') continue;
    const indent = line.length - line.trimStart().length;
    while ((open.at(-1)?.indent ?? -1) >= indent) open.pop();
    const text = line.slice(indent);
    const match = NODE_LINE.exec(text);
    if (match === null) {
      open.push({ indent, node: nearest(open), section: sectionOf(text) });
      continue;
    }
    // Node ids rise by one per line: a forged node would break the sequence.
    if (Number(match[2]) !== nextId++) refuse('unexplained');
    if (nextId > NODES_MAX) refuse('too_complex');
    const node = nodeOf(match, nearest(open), open.at(-1)?.section ?? '');
    if (node.parent === null && root !== null) refuse('unexplained');
    root ??= node;
    open.push({ indent, node, section: '' });
  }
  if (root === null) refuse('unexplained');
  return root;
}

function nearest(open: readonly { readonly node: TreeNode | null }[]): TreeNode | null {
  return open.at(-1)?.node ?? null;
}

function sectionOf(text: string): string {
  const section = text.trim();
  if (section.startsWith('SETTINGS ')) refuse('settings');
  if (!SECTIONS.test(section) && !NAMED_SECTIONS.test(section))
    refuse('unexplained', { near: section.slice(0, 60) });
  return section;
}

function nodeOf(match: RegExpExecArray, parent: TreeNode | null, section: string): TreeNode {
  const kind = NODE_KINDS.find((known) => known === match[1]);
  if (kind === undefined) refuse('unexplained', { near: String(match[1]) });
  const { attributes, rest } = readAttributes(match[3] ?? '');
  const node: TreeNode = { kind, section, parent, children: [], attributes, rest };
  parent?.children.push(node);
  return node;
}

/** `name: value, name: value`, up to the first free text. */
function readAttributes(text: string): { attributes: Map<string, string>; rest: string } {
  const attributes = new Map<string, string>();
  let rest = text;
  for (;;) {
    const match = /^([a-z_]+) ?: ([^,]*)(?:, |$)/s.exec(rest);
    const name = match?.[1];
    if (match === null || name === undefined || FREE_TEXT.has(name)) return { attributes, rest };
    // The first of each name counts; the engine prints each only once.
    if (!attributes.has(name)) attributes.set(name, match[2] ?? '');
    rest = rest.slice(match[0].length);
    if (rest === '') return { attributes, rest };
  }
}

export function attribute(node: TreeNode, name: AttributeName): string | undefined {
  return node.attributes.get(name);
}

/** Every node, parents before children. */
export function* walk(node: TreeNode): Generator<TreeNode> {
  // Not recursive: each node would pass through a generator per ancestor.
  const next: TreeNode[] = [node];
  for (let current = next.pop(); current !== undefined; current = next.pop()) {
    yield current;
    for (let at = current.children.length - 1; at >= 0; at--) {
      const child = current.children[at];
      if (child !== undefined) next.push(child);
    }
  }
}

/** The entries of the list in a section of a node: the arguments of a function, for example. */
export function listIn(node: TreeNode, section: string): readonly TreeNode[] {
  return node.children.find((child) => child.section === section && child.kind === 'LIST')?.children ?? [];
}
