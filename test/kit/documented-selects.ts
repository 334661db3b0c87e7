import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql } from '../../clickhouse/engine/sql.ts';

/** One statement of an example in the engine's own documentation of its functions. */
export interface DocumentedStatement {
  /** Name of the function whose documentation it stands in. */
  readonly name: string;
  readonly text: string;
  /** Its words and signs, as the engine's lexer cuts them, without comments. */
  readonly words: readonly string[];
}

const SKIPPED_KINDS = new Set(['Whitespace', 'Comment']);
const ENDS_STATEMENT = new Set(['Semicolon', 'VerticalDelimiter']);
const EXAMPLES_MAX = 10_000;

/**
 * Every statement of every ```sql block in the column `examples` of `system.functions`, each different text once. Blocks are cut
 * at the semicolons that the engine's own lexer sees.
 */
export async function documentedStatements(writer: Writer): Promise<DocumentedStatement[]> {
  const { rows } = await writer.rows({
    name: 'documented-examples',
    sql: sql`SELECT name, arrayJoin(extractAll(examples, '\`\`\`sql[^\\n]*\\n((?s:.)*?)\`\`\`')) AS block,
      arrayMap(token -> (token.begin, token.end, toString(token.type)), tokenizeQuery(block)) AS tokens
      FROM system.functions ORDER BY name, block`,
    maxSeconds: 30,
    maxRows: EXAMPLES_MAX,
  });
  const found = new Map<string, DocumentedStatement>();
  for (const [name, block, tokens] of rows) {
    for (const { text, words } of cut(String(block), tokens as [number, number, string][])) {
      if (!found.has(text)) found.set(text, { name: String(name), text, words });
    }
  }
  return [...found.values()];
}

function cut(
  block: string,
  tokens: readonly [number, number, string][],
): { text: string; words: string[] }[] {
  const bytes = Buffer.from(block);
  const statements: { begin: number; end: number; words: string[] }[] = [];
  let open: (typeof statements)[number] | undefined;
  for (const [begin, end, kind] of tokens) {
    if (ENDS_STATEMENT.has(kind)) open = undefined;
    if (ENDS_STATEMENT.has(kind) || SKIPPED_KINDS.has(kind)) continue;
    if (open === undefined) {
      open = { begin: Number(begin), end: Number(end), words: [] };
      statements.push(open);
    }
    open.end = Number(end);
    open.words.push(bytes.subarray(Number(begin), Number(end)).toString('utf8'));
  }
  return statements.map(({ begin, end, words }) => ({
    text: bytes.subarray(begin, end).toString('utf8'),
    words,
  }));
}
