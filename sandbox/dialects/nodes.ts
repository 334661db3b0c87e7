/** What the library's trees hold: plain objects whose shape differs a little by dialect. */

export type Node = Readonly<Record<string, unknown>>;

/** The text cannot be written as ClickHouse by these rules: there is no suggestion. */
export class Untranslatable extends Error {
  constructor(what: string) {
    super(`there is no rule for ${what}`);
    this.name = 'Untranslatable';
  }
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function nodeOf(value: unknown, what = 'a part of the query'): Node {
  if (!isNode(value)) throw new Untranslatable(what);
  return value;
}

export function nodesOf(value: unknown): readonly Node[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** A name or word, which the trees wrap in up to three objects. */
export function wordOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value))
    return value
      .map(wordOf)
      .filter((word) => word !== '')
      .join('.');
  if (!isNode(value)) return '';
  if ('expr' in value) return wordOf(value['expr']);
  return wordOf(value['value']);
}

/** The name of a called function in lower case: `date_trunc`, `net.host`. */
export function functionName(call: Node): string {
  const name = call['name'];
  if (!isNode(name)) return wordOf(name).toLowerCase();
  return [wordOf(name['schema']), wordOf(name['name'])]
    .filter((part) => part !== '')
    .join('.')
    .toLowerCase();
}

/** The arguments of a call. */
export function argumentsOf(call: Node): readonly Node[] {
  const args = call['args'];
  if (!isNode(args)) return [];
  if (args['type'] === 'expr_list') return nodesOf(args['value']);
  return isNode(args['expr']) ? listed(args['expr']) : [];
}

function listed(expression: Node): readonly Node[] {
  return expression['type'] === 'expr_list' ? nodesOf(expression['value']) : [expression];
}

export interface ColumnName {
  /** '' where the query names no table. */
  readonly table: string;
  readonly name: string;
}

/** The column that a node names; null for anything else, such as a call. */
export function columnOf(node: unknown): ColumnName | null {
  if (!isNode(node) || node['type'] !== 'column_ref') return null;
  const { column } = node;
  if (isNode(column) && isNode(column['expr']) && column['expr']['type'] === 'function') return null;
  return { table: wordOf(node['table']), name: wordOf(column) };
}

const TEXT_TYPES: ReadonlySet<unknown> = new Set(['single_quote_string', 'string', 'regex_string']);

/** The value of a text constant; null for anything else. */
export function textOf(node: unknown): string | null {
  if (!isNode(node)) return null;
  if (TEXT_TYPES.has(node['type'])) return wordOf(node['value']).replaceAll("''", "'");
  // Not every build wraps a text in the column of an expression.
  return null;
}

export function numberOf(node: unknown): number | null {
  if (!isNode(node) || (node['type'] !== 'number' && node['type'] !== 'bigint')) return null;
  const value = Number(node['value']);
  return Number.isFinite(value) ? value : null;
}

/**
 * Prints a tree, and refuses the result where a part of the tree was not looked at: a clause that no rule knows, such as TABLESAMPLE,
 * would be missing from the printed text. Throws `Untranslatable`.
 */
export function printedWhole(tree: Node, print: (tree: Node) => string): string {
  const seen = new Map<object, Set<PropertyKey>>();
  const text = print(watched(tree, seen, new Map()));
  checkSeen(tree, seen);
  return text;
}

/** Parts that change nothing: they repeat printed parts, or say where it was written. */
const SILENT: ReadonlySet<string> = new Set([
  'type',
  'keyword',
  'loc',
  'parentheses',
  'surround',
  'tableList',
  'columnList',
]);

function watched<Part>(part: Part, seen: Map<object, Set<PropertyKey>>, made: Map<object, unknown>): Part {
  if (typeof part !== 'object' || part === null) return part;
  const parts = new Set<PropertyKey>();
  const known = made.get(part);
  // A part that was wrapped before is the same for every comparison.
  if (known !== undefined) return known as Part;
  seen.set(part, parts);
  const proxy = new Proxy(part, {
    get(target, name) {
      parts.add(name);
      return watched(Reflect.get(target, name), seen, made);
    },
  });
  made.set(part, proxy);
  return proxy;
}

function checkSeen(part: unknown, seen: ReadonlyMap<object, ReadonlySet<PropertyKey>>): void {
  if (typeof part !== 'object' || part === null) return;
  const parts = seen.get(part);
  for (const [name, value] of Object.entries(part)) {
    if (SILENT.has(name) || isEmpty(value) || value === '*') continue;
    if (parts?.has(name) !== true) throw new Untranslatable(name);
    checkSeen(value, seen);
  }
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).every(([name, part]) => SILENT.has(name) || isEmpty(part));
  return (
    value === undefined || value === null || value === '' || value === false || typeof value === 'function'
  );
}

/** Throws where a node has a part that the printer would leave out. */
export function onlyKnown(node: Node, parts: ReadonlySet<string>): void {
  for (const [part, value] of Object.entries(node)) {
    const isEmpty = value === null || value === undefined || value === '' || value === false;
    const holdsNothing = (Array.isArray(value) && value.length === 0) || typeof value === 'function';
    if (!isEmpty && !holdsNothing && !parts.has(part)) throw new Untranslatable(part);
  }
}

/** The statement of a subquery; null for anything else. */
export function subqueryOf(node: unknown): Node | null {
  if (!isNode(node)) return null;
  if (node['type'] === 'select') return node;
  if (isNode(node['ast'])) return node['ast'];
  const expression = node['expr'];
  return isNode(expression) && isNode(expression['ast']) ? expression['ast'] : null;
}

/** The text of a rule; without one there is no translation. */
export function known(text: string | null, what: string): string {
  if (text === null) throw new Untranslatable(what);
  return text;
}
