/** The pages of the documentation. The site, llms.txt and the resources of MCP are made from this list. */

/** The readers that pages are written for, in the order of the navigation. */
export const READERS = {
  start: {
    title: 'First call',
    summary: 'Your first answers in five minutes, and what your key allows.',
  },
  analysts: {
    title: 'Analysts',
    summary: 'SQL over every settlement: how to query, worked queries, tables, and what the figures mean.',
  },
  agents: {
    title: 'Agents',
    summary: 'The same operations as MCP tools, payment over x402, and the identities behind wallets.',
  },
  operators: {
    title: 'Operators',
    summary: 'Run it on one machine or on many, back it up, upgrade and monitor it.',
  },
  reference: {
    title: 'Reference',
    summary: 'Every operation, error and setting, generated from the code that serves them.',
  },
  design: {
    title: 'Design',
    summary: 'How it works inside and why it was built this way: a page and a drawing for each part.',
  },
} as const;

type ReaderId = keyof typeof READERS;

export const READER_IDS = Object.keys(READERS) as readonly ReaderId[];

export interface DocsPage {
  /** The last part of `/docs/{slug}`, and the name in `docs://{slug}`. */
  readonly slug: string;
  /** Below docs/. */
  readonly file: string;
  readonly reader: ReaderId;
  readonly title: string;
  /** One line for lists. */
  readonly description: string;
}

/** In reading order. */
export const DOCS_PAGES: readonly DocsPage[] = [
  {
    slug: 'quickstart',
    file: 'quickstart.md',
    reader: 'start',
    title: 'First call in five minutes',
    description: 'A request without a key, then the demo: REST, SQL, MCP.',
  },
  {
    slug: 'access',
    file: 'access.md',
    reader: 'start',
    title: 'Access and limits',
    description: 'Keys, plans, limits and Query Units: what you may do, and what it costs.',
  },
  {
    slug: 'console',
    file: 'console.md',
    reader: 'start',
    title: 'The console',
    description: 'A tour with pictures.',
  },
  {
    slug: 'glossary',
    file: 'glossary.md',
    reader: 'start',
    title: 'Glossary',
    description: 'The words, one meaning each.',
  },
  {
    slug: 'client',
    file: 'client.md',
    reader: 'start',
    title: 'TypeScript client',
    description: 'Typed calls, pages as iterators, retries and x402 payments.',
  },
  {
    slug: 'snapshots',
    file: 'snapshots.md',
    reader: 'start',
    title: 'Snapshots: numbers that stay true',
    description:
      'Ask again and get the same rows: what a snapshot holds, for how long, and how to cite a result.',
  },
  {
    slug: 'copies',
    file: 'copies.md',
    reader: 'start',
    title: 'Keep a copy up to date',
    description: 'Read a list of settlements once, then only the changes, reorgs included.',
  },
  {
    slug: 'sql',
    file: 'sql.md',
    reader: 'analysts',
    title: 'SQL',
    description: 'The request, the answer, prices, errors, tables, and how to read little.',
  },
  {
    slug: 'cookbook',
    file: 'cookbook.md',
    reader: 'analysts',
    title: 'SQL cookbook',
    description: 'Worked queries to copy, with results over the sample data of the demo.',
  },
  {
    slug: 'sql-dialect',
    file: 'sql-dialect.md',
    reader: 'analysts',
    title: 'SQL dialect',
    description: 'What is allowed, what is refused, and how to move queries over from other databases.',
  },
  {
    slug: 'jobs',
    file: 'jobs.md',
    reader: 'analysts',
    title: 'Jobs and kept results',
    description: 'Queries that run longer than a connection, and results that you pay for once.',
  },
  {
    slug: 'saved-queries',
    file: 'saved-queries.md',
    reader: 'analysts',
    title: 'Saved queries',
    description: 'Your queries as endpoints with parameters, versions, a price and scheduled runs.',
  },
  {
    slug: 'dashboards',
    file: 'dashboards.md',
    reader: 'analysts',
    title: 'Dashboards',
    description: 'Read, make, share and frame them.',
  },
  {
    slug: 'connect',
    file: 'connect.md',
    reader: 'analysts',
    title: 'Connecting tools',
    description: 'Grafana, Metabase, Superset, DBeaver, Python over the ClickHouse HTTP interface.',
  },
  {
    slug: 'bundles',
    file: 'bundles.md',
    reader: 'analysts',
    title: 'Download it all',
    description: 'Signed Parquet files of finalized days: download, check, query with DuckDB.',
  },
  {
    slug: 'sql-tables',
    file: 'reference/sql-tables.md',
    reader: 'analysts',
    title: 'SQL tables',
    description: 'Every public table and column, with its meaning.',
  },
  {
    slug: 'sql-answers',
    file: 'reference/sql-answers.md',
    reader: 'analysts',
    title: 'SQL answers',
    description: 'Every response header, warning and failure reason.',
  },
  {
    slug: 'sql-functions',
    file: 'reference/sql-functions.md',
    reader: 'analysts',
    title: 'Refused SQL functions',
    description: 'The functions that a query may not call, and what to use instead.',
  },
  {
    slug: 'methodology',
    file: 'methodology.md',
    reader: 'analysts',
    title: 'Methodology',
    description: 'How settlements are found and graded; data quality, signals and rings.',
  },
  {
    slug: 'evidence',
    file: 'reference/evidence.md',
    reader: 'analysts',
    title: 'The evidence ladder',
    description: 'Every rung: what was seen on chain, and how sure that makes a row.',
  },
  {
    slug: 'mcp',
    file: 'mcp.md',
    reader: 'agents',
    title: 'MCP',
    description: 'How to connect, what answers look like, how tools are paid.',
  },
  {
    slug: 'payments',
    file: 'payments.md',
    reader: 'agents',
    title: 'Paying over x402',
    description: 'Paying for single calls over x402, by price or by use, and buying a key.',
  },
  {
    slug: 'payment-stages',
    file: 'reference/payment-stages.md',
    reader: 'agents',
    title: 'Payment stages',
    description: 'Where a payment can fail, and whether to send it again.',
  },
  {
    slug: 'identities',
    file: 'identities.md',
    reader: 'agents',
    title: 'Agent identities',
    description: 'ERC-8004 registries, cards, names, feedback and the endpoint catalogue.',
  },
  {
    slug: 'capabilities',
    file: 'capabilities.md',
    reader: 'agents',
    title: 'Capabilities',
    description: 'The jobs that services offer, and the rule that decides which service offers which.',
  },
  {
    slug: 'operators',
    file: 'operators.md',
    reader: 'operators',
    title: 'Running it',
    description: 'One machine or many, chains and nodes, accounts, plans and payments.',
  },
  {
    slug: 'upkeep',
    file: 'upkeep.md',
    reader: 'operators',
    title: 'Back up, upgrade, watch',
    description: 'What to back up, how to restore it, how to upgrade, and what to monitor.',
  },
  {
    slug: 'observe',
    file: 'observe.md',
    reader: 'operators',
    title: 'Metrics, logs, traces, doctor',
    description:
      'What to scrape, which alerts to set, what a log line holds, and a check of everything at once.',
  },
  {
    slug: 'scale',
    file: 'scale.md',
    reader: 'operators',
    title: 'What it costs, and how far it goes',
    description: 'Measured costs of a million settlements, and a plan for ten billion.',
  },
  {
    slug: 'import',
    file: 'import.md',
    reader: 'operators',
    title: 'Importing history',
    description: 'Years of history from Parquet exports, without an archive node.',
  },
  {
    slug: 'reference',
    file: 'reference/index.md',
    reader: 'reference',
    title: 'All reference pages',
    description: 'Which page answers which question.',
  },
  {
    slug: 'configuration',
    file: 'reference/configuration.md',
    reader: 'reference',
    title: 'Configuration',
    description: 'Every setting with its default and its environment variable.',
  },
  {
    slug: 'operations',
    file: 'reference/operations.md',
    reader: 'reference',
    title: 'API operations',
    description: 'Every route with its parameters, errors, price and an example.',
  },
  {
    slug: 'errors',
    file: 'reference/errors.md',
    reader: 'reference',
    title: 'Errors',
    description: 'Every code, what it means and what to do.',
  },
  {
    slug: 'deprecation',
    file: 'deprecation.md',
    reader: 'reference',
    title: 'Compatibility and deprecation',
    description: 'What counts as a breaking change, and how long notice is given.',
  },
  {
    slug: 'compatibility',
    file: 'compatibility.md',
    reader: 'reference',
    title: 'Compatibility',
    description: 'Tested clients.',
  },
  {
    slug: 'design-overview',
    file: 'design/overview.md',
    reader: 'design',
    title: 'Overview',
    description: 'The parts, the arrows between them, and what each of them guarantees.',
  },
  {
    slug: 'design-storage',
    file: 'design/storage.md',
    reader: 'design',
    title: 'Storage',
    description: 'The tables, versions and tombstones, rollups, and how exact answers are read from both.',
  },
  {
    slug: 'design-ingest',
    file: 'design/ingest.md',
    reader: 'design',
    title: 'Ingest',
    description: 'From a node’s answers to acknowledged rows: proofs, checkpoints, reorgs.',
  },
  {
    slug: 'design-evidence',
    file: 'design/evidence.md',
    reader: 'design',
    title: 'Evidence',
    description: 'How a payment is recognised and graded.',
  },
  {
    slug: 'design-channels',
    file: 'design/channels.md',
    reader: 'design',
    title: 'Channels and escrows',
    description: 'How their events become rows.',
  },
  {
    slug: 'design-solana',
    file: 'design/solana.md',
    reader: 'design',
    title: 'Solana',
    description: 'How its blocks are read.',
  },
  {
    slug: 'design-sandbox',
    file: 'design/sandbox.md',
    reader: 'design',
    title: 'SQL sandbox',
    description: 'What stands between a caller’s query and the engine, from the parser to the kernel.',
  },
  {
    slug: 'design-gate',
    file: 'design/gate.md',
    reader: 'design',
    title: 'Gate and payment',
    description: 'The order of checks on a call, and how a payment is settled once and answered once.',
  },
  {
    slug: 'design-accounts',
    file: 'design/accounts.md',
    reader: 'design',
    title: 'Accounts',
    description: 'Organizations, keys, units and payments, in SQLite or Redis, without double charges.',
  },
  {
    slug: 'design-scale',
    file: 'design/scale.md',
    reader: 'design',
    title: 'Scale',
    description: 'What one process takes, how work is spread over processes and shards, what ends first.',
  },
];

export function pagesOf(reader: ReaderId): readonly DocsPage[] {
  return DOCS_PAGES.filter((page) => page.reader === reader);
}
