/** The placeholders `{name:Type}` of a query. Pure: also run by tests outside of a browser. */

export interface Placeholder {
  readonly name: string;
  readonly type: string;
}

/** What may hold braces without meaning them: strings, quoted names, comments. */
const SKIPPED = /'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?\*\//g;
const PLACEHOLDER = /\{\s*([A-Za-z_]\w*)\s*:\s*([^{}]+?)\s*\}/g;

/** Each name once, in the order of the text. */
export function findPlaceholders(sql: string): readonly Placeholder[] {
  const found = new Map<string, Placeholder>();
  for (const [, name = '', type = ''] of sql.replace(SKIPPED, ' ').matchAll(PLACEHOLDER))
    if (!found.has(name)) found.set(name, { name, type });
  return [...found.values()];
}

/** The values of the placeholders that the text has; one that was never given is left out, and the API says so. */
export function valuesFor(
  sql: string,
  values: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const names = findPlaceholders(sql).map(({ name }) => name);
  return Object.fromEntries(names.flatMap((name) => (name in values ? [[name, values[name] ?? '']] : [])));
}
