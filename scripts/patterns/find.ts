import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';

/**
 * The regular expressions of the product: each literal, and each `pattern` of a schema, which the validator makes one of. A pattern
 * that is put together while the program runs cannot be judged before, so a call of `RegExp` is refused, and so is a `pattern` that is
 * no literal or the `source` of one.
 */

/** What runs at users' machines. Tests, the demo, benches and scripts read our own texts. */
const PRODUCT = ['core', 'clickhouse', 'ingest', 'sandbox', 'src', 'console', 'client'];

export interface FoundPatterns {
  /** `file:line` of the places of each pattern, as it is written between slashes. */
  readonly places: ReadonlyMap<string, readonly string[]>;
  /** A sentence for each pattern that cannot be judged. */
  readonly refused: readonly string[];
}

export interface SourceText {
  readonly file: string;
  readonly text: string;
}

export function productSources(root: string): readonly SourceText[] {
  const { stdout, status } = spawnSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', ...PRODUCT],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error('git does not list the files of the product');
  return stdout
    .split('\n')
    .filter((file) => /\.(?:ts|tsx|mjs)$/.test(file))
    .flatMap((file) => {
      const text = textOf(`${root}/${file}`);
      return text === null ? [] : [{ file, text }];
    });
}

/** Null for a file that was removed and is still in the index. */
function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

export function findPatterns(sources: readonly SourceText[]): FoundPatterns {
  const places = new Map<string, string[]>();
  const refused: string[] = [];
  for (const { file, text } of sources) {
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    const placeOf = (node: ts.Node): string =>
      `${file}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
    const visit = (node: ts.Node): void => {
      const literal = literalOf(node);
      if (literal !== null) places.set(literal, [...(places.get(literal) ?? []), placeOf(node)]);
      else if (isPutTogether(node))
        refused.push(
          `${placeOf(node)}: a pattern that is put together cannot be judged. Write it as a literal.`,
        );
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return { places, refused };
}

/** The pattern between slashes, or null where the node is none. Validators of schemas take `pattern` with the flag `u`. */
function literalOf(node: ts.Node): string | null {
  if (ts.isRegularExpressionLiteral(node)) return node.text;
  const schema = schemaPattern(node);
  return schema !== null && ts.isStringLiteralLike(schema)
    ? `/${new RegExp(schema.text, 'u').source}/u`
    : null;
}

/** The value of a property `pattern`, as JSON Schema calls it. */
function schemaPattern(node: ts.Node): ts.Expression | null {
  return ts.isPropertyAssignment(node) && ts.isIdentifier(node.name) && node.name.text === 'pattern'
    ? node.initializer
    : null;
}

function isPutTogether(node: ts.Node): boolean {
  if (ts.isNewExpression(node) || ts.isCallExpression(node))
    return ts.isIdentifier(node.expression) && node.expression.text === 'RegExp';
  const schema = schemaPattern(node);
  return schema !== null && (ts.isTemplateExpression(schema) || ts.isBinaryExpression(schema));
}
