import { readFileSync } from 'node:fs';

/** What an agent may read beside calling tools: pages of the documentation. Source: api.md 6. */
export interface McpResource {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: 'text/markdown';
  /** Read from the disk each time: pages are asked for rarely, and the larger ones have 100 kB. */
  read(): string;
}

const PAGES = {
  sql: ['sql.md', 'SQL for analysts', 'The request, the dialect, what reads little, and worked questions.'],
  'sql-tables': ['reference/sql-tables.md', 'SQL tables', 'Every public table and column, with its meaning.'],
  'sql-functions': ['reference/sql-functions.md', 'SQL functions', 'Every function that a query may call.'],
  methodology: [
    'methodology.md',
    'Methodology',
    'Evidence, data quality and signals: what the figures mean.',
  ],
  identities: [
    'identities.md',
    'Agent identities',
    'ERC-8004 registries, cards, names, feedback and the endpoint catalogue.',
  ],
  capabilities: [
    'capabilities.md',
    'Capabilities',
    'The jobs that services offer, and the rule that says who offers which.',
  ],
  payments: ['payments.md', 'Payments', 'Paying for single calls over x402, on the HTTP surface.'],
  access: ['access.md', 'Access', 'Keys, plans, limits and Query Units.'],
  errors: ['reference/errors.md', 'Errors', 'Every code, what it means and what to do.'],
} as const satisfies Readonly<Record<string, readonly [file: string, title: string, description: string]>>;

/** The documentation, as `docs://sql` and so on. */
export const DOCS_RESOURCES: readonly McpResource[] = Object.entries(PAGES).map(
  ([name, [file, title, description]]) => ({
    uri: `docs://${name}`,
    name,
    title,
    description,
    mimeType: 'text/markdown',
    read: () => readFileSync(new URL(`../../docs/${file}`, import.meta.url), 'utf8'),
  }),
);
