import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';

/** What a tool asks when it connects and lists tables, written down from its published source. */
export interface Conversation {
  readonly tool: string;
  readonly version: string;
  readonly sources: readonly {
    readonly repository: string;
    readonly commit: string;
    readonly path: string;
  }[];
  readonly requests: readonly AskedByTool[];
}

interface AskedByTool {
  readonly text: string;
  /** The format that the tool asks for. */
  readonly format: string;
  readonly database?: string;
  readonly needs: ToolNeeds;
}

/** What the tool reads in the answer. */
interface ToolNeeds {
  /** Names of the columns, or of the first ones. */
  readonly columns?: readonly string[];
  readonly types?: readonly string[];
  readonly first?: readonly unknown[];
  readonly rows?: number;
  readonly holds?: readonly (readonly unknown[])[];
  /** Values that a column has; it is the first one unless `at` says otherwise. */
  readonly names?: readonly string[];
  readonly at?: number;
  /** Parts of the first value. */
  readonly contains?: readonly string[];
  /** The whole answer, for a text with a FORMAT of its own and for one without a result. */
  readonly body?: string;
}

const FOLDER = new URL('../fixtures/conversations/', import.meta.url);

export const CONVERSATIONS: readonly Conversation[] = readdirSync(FOLDER).map(
  (file) => JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Conversation, // our own files
);

/** Sends a text in a format, and gives the bytes of the answer. Rejects if it is refused. */
export type Ask = (text: string, format: string, database: string) => Promise<Buffer>;

/** Asks everything in order: in the tool's own format, which must give bytes, and as JSON, which is compared with what the tool needs. */
export async function replay({ requests }: Conversation, ask: Ask): Promise<void> {
  for (const { text, format, database = 'default', needs } of requests) {
    const own = await ask(text, format, database);
    if (needs.body !== undefined) {
      expect(own.toString('utf8'), text).toBe(needs.body);
      continue;
    }
    if (needs.rows !== 0) expect(own.length, text).toBeGreaterThan(0);
    check(text, needs, JSON.parse((await ask(text, 'JSONCompact', database)).toString('utf8')) as Answer); // by the format
  }
}

interface Answer {
  readonly meta: readonly { readonly name: string; readonly type: string }[];
  readonly data: readonly (readonly unknown[])[];
}

function check(text: string, needs: ToolNeeds, { meta, data }: Answer): void {
  const { columns, types, first, rows, holds = [], names, at = 0, contains = [] } = needs;
  if (columns !== undefined)
    expect(meta.map(({ name }) => name).slice(0, columns.length), text).toEqual(columns);
  if (types !== undefined)
    expect(
      meta.map(({ type }) => type),
      text,
    ).toEqual(types);
  if (first !== undefined) expect(data[0], text).toEqual(first);
  if (rows !== undefined) expect(data.length, text).toBe(rows);
  for (const row of holds) expect(data, text).toContainEqual(row);
  if (names !== undefined)
    expect(
      data.map((row) => row[at]),
      text,
    ).toEqual(expect.arrayContaining([...names]));
  for (const part of contains) expect(String(data[0]?.[0]), text).toContain(part);
}
