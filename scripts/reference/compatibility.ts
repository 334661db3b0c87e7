import { readdirSync, readFileSync } from 'node:fs';
import { code, generatedHead, table } from './markdown.ts';

/** The page of clients that the tests drive: versions come from the package files of what is installed, or from a recorded conversation. */

const root = new URL('../../', import.meta.url);

const OURS = 'package.json';
const PEERS = 'test/peers/package.json';
const PEER_OF_V1 = 'test/peers/x402-fetch/package.json';
const RECORDED = 'test/fixtures/conversations/';

interface TestedClient {
  readonly name: string;
  /** The file that has its version, and its name there. */
  readonly version: readonly [file: string, name: string] | 'Debian';
  readonly setUp: string;
}

const DATABASE: readonly TestedClient[] = [
  {
    name: 'curl',
    version: 'Debian',
    setUp: '`curl "$URL/clickhouse/" -H "X-ClickHouse-Key: $KEY" --data-binary "SELECT 1"`',
  },
  {
    name: '@clickhouse/client',
    version: [OURS, '@clickhouse/client'],
    setUp: "`createClient({ url, pathname: '/clickhouse', username: 'default', password: key })`",
  },
  {
    name: '@clickhouse/client-web',
    version: [PEERS, '@clickhouse/client-web'],
    setUp: 'As `@clickhouse/client`, in a browser.',
  },
  {
    name: 'clickhouse (npm)',
    version: [PEERS, 'clickhouse'],
    setUp: '`new ClickHouse({ url, basicAuth: { username: "default", password: key } })`',
  },
  {
    name: 'Cube',
    version: [PEERS, '@cubejs-backend/clickhouse-driver'],
    setUp: '[Environment variables](connect.md#cube)',
  },
  {
    name: 'DbGate',
    version: [PEERS, 'dbgate-plugin-clickhouse'],
    setUp: '[A connection with a database URL](connect.md#dbgate)',
  },
  {
    name: 'clickhouse-connect (Python)',
    version: [RECORDED, 'clickhouse-connect'],
    setUp: "`clickhouse_connect.get_client(host=…, port=8123, username='default', password=key)`",
  },
  {
    name: 'JDBC driver, current',
    version: [RECORDED, 'jdbc'],
    setUp: '`jdbc:clickhouse:https://index.example:8123/default`, any user, the key as password',
  },
  { name: 'JDBC driver, first generation', version: [RECORDED, 'jdbc-v1'], setUp: 'The same URL.' },
  {
    name: 'DBeaver',
    version: [RECORDED, 'dbeaver'],
    setUp: '[A connection of type ClickHouse](connect.md#jdbc-and-dbeaver)',
  },
  {
    name: 'Grafana, ClickHouse data source',
    version: [RECORDED, 'grafana'],
    setUp: '[Protocol HTTP, the key as password](connect.md#grafana)',
  },
  {
    name: 'Metabase',
    version: [RECORDED, 'metabase'],
    setUp: '[A database of type ClickHouse](connect.md#metabase)',
  },
  {
    name: 'Superset',
    version: [RECORDED, 'superset'],
    setUp: '`clickhousedb://default:KEY@index.example:8123/default?secure=true`',
  },
];

const AGENTS: readonly TestedClient[] = [
  {
    name: 'MCP SDK, second generation',
    version: [OURS, '@modelcontextprotocol/client'],
    setUp: 'Streamable HTTP at `$URL/mcp`, header `X-API-Key`',
  },
  { name: 'MCP SDK, first generation', version: [OURS, '@modelcontextprotocol/sdk'], setUp: 'The same.' },
  {
    name: 'mcp-remote',
    version: [PEERS, 'mcp-remote'],
    setUp: '`npx mcp-remote $URL/mcp --header "X-API-Key: $KEY"`',
  },
  {
    name: 'MCP conformance suite',
    version: [PEERS, '@modelcontextprotocol/conformance'],
    setUp: '[MCP](mcp.md)',
  },
];

const PAYERS: readonly TestedClient[] = [
  {
    name: '@x402/fetch, in Node and in a page of another origin',
    version: [OURS, '@x402/fetch'],
    setUp: '`wrapFetchWithPayment(fetch, client)(url)`',
  },
  {
    name: 'x402-fetch, version 1 of the protocol',
    version: [PEER_OF_V1, 'x402-fetch'],
    setUp: '`wrapFetchWithPayment(fetch, wallet)(url)`',
  },
  {
    name: '@x402/extensions, as a facilitator reads the bazaar extension',
    version: [OURS, '@x402/extensions'],
    setUp: 'Nothing: it is in every offer.',
  },
];

const FILES: readonly TestedClient[] = [
  {
    name: 'DuckDB, over Parquet',
    version: [PEERS, '@duckdb/node-api'],
    setUp: "`SELECT * FROM 'settlements.parquet'`",
  },
  {
    name: 'Apache Arrow for JavaScript',
    version: [OURS, 'apache-arrow'],
    setUp: '`tableFromIPC(await answer.arrayBuffer())`',
  },
];

export function compatibilityPage(): string {
  return `${generatedHead('Compatibility', 'scripts/reference/compatibility.ts')}The programs of others that the tests of this project drive, in the version of the last run, each with its set-up. A version marked
*recorded* is replayed: the tests send what the tool sends when it connects and lists tables, as its published source has it, and check
what it reads in the answer.

## Database clients and BI tools

${rows(DATABASE)}
Every detail: [Connecting tools](connect.md).

## Agents

${rows(AGENTS)}
## Payment clients

${rows(PAYERS)}
## Files

${rows(FILES)}`;
}

function rows(clients: readonly TestedClient[]): string {
  return table(
    ['client', 'version', 'set-up'],
    clients.map(({ name, version, setUp }) => [name, versionOf(version), setUp]),
  );
}

function versionOf(version: TestedClient['version']): string {
  if (version === 'Debian') return 'of Debian';
  const [file, name] = version;
  if (file === RECORDED) return `${conversationOf(name)}, recorded`;
  const { dependencies = {}, devDependencies = {} } = JSON.parse(
    readFileSync(new URL(file, root), 'utf8'),
  ) as Partial<Record<'dependencies' | 'devDependencies', Record<string, string>>>; // our own files
  const found = dependencies[name] ?? devDependencies[name];
  if (found === undefined) throw new Error(`${name} is no package of the tests any more`);
  return code(found);
}

const CONVERSATIONS = new URL(RECORDED, root);

function conversationOf(name: string): string {
  const listed = DATABASE.flatMap(({ version }) =>
    version !== 'Debian' && version[0] === RECORDED ? [`${version[1]}.json`] : [],
  );
  // Those whose real client is driven as well have a row of their own.
  const driven = ['cube.json', 'dbgate.json'];
  const unlisted = readdirSync(CONVERSATIONS).filter((file) => ![...listed, ...driven].includes(file));
  if (unlisted.length > 0) throw new Error(`no row of the page has the conversation ${unlisted.join(', ')}`);
  const { version } = JSON.parse(readFileSync(new URL(`${name}.json`, CONVERSATIONS), 'utf8')) as {
    version: string;
  }; // our own file
  return version;
}
