/** The direction of the architecture (design.md 6): every arrow that must not exist is named here. */
const only = (name, from, to, comment) => ({ name, severity: 'error', comment, from, to });

module.exports = {
  forbidden: [
    only('no-cycles', {}, { circular: true }, 'A cycle means two files are one idea.'),
    only(
      'domain-is-pure',
      { path: '^src/domain' },
      { path: '^(src/(?!domain)|clickhouse|ingest|sandbox|demo)' },
      'domain imports nothing of ours.',
    ),
    only(
      'catalogue-and-reads-know-no-transport',
      { path: '^src/(catalogue|reads)' },
      { path: '(node_modules/(fastify|ioredis|bullmq)|^src/(http|mcp|control))' },
      'Operations never know who called.',
    ),
    only(
      'only-http-knows-fastify',
      { path: '^(src|clickhouse|ingest)', pathNot: '^src/http' },
      { path: 'node_modules/(fastify|@fastify)' },
      'Only http imports fastify.',
    ),
    only(
      'surfaces-know-not-each-other',
      { path: '^src/mcp' },
      { path: '^src/http' },
      'MCP answers exchanges that HTTP hands it; it never reaches back.',
    ),
    only(
      'only-mcp-knows-its-sdk',
      { path: '^(src|clickhouse|ingest)', pathNot: '^src/mcp' },
      { path: 'node_modules/@modelcontextprotocol' },
      'Only mcp imports the SDK of the protocol.',
    ),
    only(
      'only-clickhouse-knows-the-client',
      { path: '^(src|ingest)' },
      { path: 'node_modules/(@clickhouse|ffi-rs|chdb)' },
      'Only clickhouse imports the client and the host.',
    ),
    only(
      'only-sources-know-viem-clients',
      { path: '^(src|clickhouse|ingest)', pathNot: '^(ingest/sources)' },
      { path: 'node_modules/viem' },
      'Only ingest/sources imports viem.',
    ),
    only(
      'only-sqlite-adapter-knows-libsql',
      { path: '^(src|clickhouse|ingest)', pathNot: '^src/control/sqlite' },
      { path: 'node_modules/libsql' },
      'Only the SQLite adapter imports libsql.',
    ),
    only(
      'only-redis-adapter-knows-ioredis',
      { path: '^(src|clickhouse|ingest)', pathNot: '^src/control/redis' },
      { path: 'node_modules/ioredis' },
      'Only the Redis adapter imports ioredis.',
    ),
    only(
      'only-payment-knows-x402',
      { path: '^(src|clickhouse|ingest)', pathNot: '^src/payment' },
      { path: 'node_modules/@x402' },
      'Only payment imports the x402 packages.',
    ),
    only(
      'only-gate-knows-jose',
      { path: '^(src|clickhouse|ingest)', pathNot: '^src/gate' },
      { path: 'node_modules/jose' },
      'Only the gate reads bearer tokens.',
    ),
    only(
      'adapters-are-constructed-at-the-rim',
      { path: '^src/(gate|payment|catalogue|reads|http|domain)' },
      { path: '^src/control/(sqlite|redis)' },
      'The gate and the lanes know the port, never an adapter.',
    ),
    only(
      'ingest-and-api-meet-in-the-database',
      { path: '^ingest' },
      { path: '^src/(http|catalogue|reads|gate|payment|control|main)' },
      'ingest never calls the API side.',
    ),
    only(
      'api-never-calls-ingest',
      { path: '^src/(http|catalogue|reads|gate|payment|control|domain)' },
      { path: '^ingest' },
      'The API never calls ingest.',
    ),
    only(
      'clickhouse-is-below',
      { path: '^clickhouse' },
      { path: '^(ingest|sandbox|src/(http|catalogue|reads|gate))' },
      'clickhouse knows neither side.',
    ),
    only(
      'sandbox-knows-no-surface',
      { path: '^sandbox' },
      { path: '^(ingest|src/(http|gate|payment|control|reads))' },
      'The sandbox judges and runs; who pays and who asks is not its business.',
    ),
    only(
      'the-console-runs-in-a-browser',
      { path: '^console' },
      { path: '^(src/(?!domain)|clickhouse|ingest|sandbox|demo|test|scripts)' },
      'The console is bundled for browsers and talks to the API over HTTP: of the service it knows pure values and words only.',
    ),
    only(
      'the-console-is-bundled',
      { path: '^(src|clickhouse|ingest|sandbox)' },
      { path: '(^console|node_modules/(preact|@codemirror|@lezer|chart\\.js))' },
      'The service serves the console’s files and imports none of them.',
    ),
    only(
      'docs-site-knows-no-transport',
      { path: '^src/docs-site' },
      { path: '(node_modules/(fastify|@fastify)|^src/(http|mcp|control|gate|payment|reads))' },
      'The documentation is made of texts and declarations; http serves it.',
    ),
    only(
      'only-docs-site-knows-markdown',
      { path: '^src', pathNot: '^src/docs-site' },
      { path: 'node_modules/(marked|highlight.js|minisearch)' },
      'Only the documentation is rendered.',
    ),
    only(
      'client-stands-alone',
      { path: '^client' },
      { pathNot: '^client' },
      'The client runs in browsers and in programs of others: it imports nothing but itself.',
    ),
    only(
      'bridge-knows-no-service',
      { path: '^src/mcp-bridge' },
      { path: '^(clickhouse|ingest|sandbox|src/(?!mcp-bridge))' },
      'The bridge passes messages on: it runs where the service does not.',
    ),
    only(
      'no-tests-in-products',
      { path: '^(src|clickhouse|ingest|console)' },
      { path: '^(test|bench|demo)' },
      'Products never import tests, benches or the demo.',
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: 'bench/ingest/ponder' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.mjs', '.cjs', '.js', '.json'],
    },
  },
};
