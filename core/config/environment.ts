import { type ChainFacts, namespaceOf, referenceOf } from '../domain/chains.ts';
import { knownChain } from '../domain/networks.ts';

/** The shape of `process.env`; tests pass their own. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Environment variables, each with the path of the setting. The docs generator reads this too. */
export const ENVIRONMENT = {
  ROLE: 'role',
  DATA_DIR: 'dataDir',
  LOG_LEVEL: 'logLevel',
  HOST: 'http.host',
  PORT: 'http.port',
  PUBLIC_URL: 'http.publicUrl',
  TRUST_PROXY: 'http.trustProxy',
  KEEP_ALIVE_SECONDS: 'http.keepAliveSeconds',
  MCP_ORIGINS: 'http.mcpOrigins',
  CLICKHOUSE_URL: 'clickhouse.url',
  CLICKHOUSE_DATABASE: 'clickhouse.database',
  CLICKHOUSE_USER: 'clickhouse.writer.user',
  CLICKHOUSE_PASSWORD: 'clickhouse.writer.password',
  CLICKHOUSE_READER_USER: 'clickhouse.reader.user',
  CLICKHOUSE_READER_PASSWORD: 'clickhouse.reader.password',
  CLICKHOUSE_GUEST_USER: 'clickhouse.guest.user',
  CLICKHOUSE_GUEST_PASSWORD: 'clickhouse.guest.password',
  CLICKHOUSE_CLUSTER: 'clickhouse.cluster',
  CLICKHOUSE_SHARDS: 'clickhouse.shards',
  CLICKHOUSE_REPLICATED: 'clickhouse.replicated',
  CLICKHOUSE_INTERFACE_HOST: 'clickhouseInterface.host',
  CLICKHOUSE_INTERFACE_PORT: 'clickhouseInterface.port',
  CURSOR_SECRETS: 'cursorSecrets',
  BUNDLES_DIR: 'bundles.dir',
  BUNDLES_SIGNING_SECRETS: 'bundles.signingSecrets',
  REDIS_URL: 'control.redisUrl',
  RESULTS_DIRECTORY: 'results.directory',
  RESULTS_MAX_GIGABYTES: 'results.maxGigabytes',
  RESULTS_MIN_FREE_GIGABYTES: 'results.minFreeGigabytes',
  RESULTS_S3_ENDPOINT: 'results.s3.endpoint',
  RESULTS_S3_BUCKET: 'results.s3.bucket',
  RESULTS_S3_REGION: 'results.s3.region',
  RESULTS_S3_ACCESS_KEY_ID: 'results.s3.accessKeyId',
  RESULTS_S3_SECRET_ACCESS_KEY: 'results.s3.secretAccessKey',
  PORTAL_URL: 'portal.url',
  INGEST_JOBS: 'ingest.jobsAtOnce',
  METRICS_HOST: 'metrics.host',
  METRICS_PORT: 'metrics.port',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'tracing.endpoint',
  X402_FACILITATOR_URL: 'payment.facilitatorUrl',
  PUBLIC_FACILITATORS: 'catalogue.publicFacilitators',
  CHAINS: 'chains',
} as const;

/** The file’s values, overridden by every environment variable that is set. Does not modify the file’s object. */
export function overrideFromEnvironment(
  file: Record<string, unknown>,
  env: Environment,
): Record<string, unknown> {
  const raw = structuredClone(file);
  for (const [name, path] of Object.entries(ENVIRONMENT)) {
    const value = env[name];
    if (value !== undefined && value !== '') setAt(raw, path.split('.'), environmentValue(path, value));
  }
  applyRpcUrls(raw, env);
  return raw;
}

const SWITCHES: Readonly<Record<string, boolean>> = { true: true, false: false };
const WHOLE_NUMBERS: ReadonlySet<string> = new Set([
  'http.port',
  'metrics.port',
  'clickhouseInterface.port',
  'ingest.jobsAtOnce',
]);

function environmentValue(path: string, value: string): unknown {
  if (WHOLE_NUMBERS.has(path)) return /^\d+$/.test(value) ? Number(value) : value;
  if (path === 'portal.url') return value === 'none' ? null : value;
  if (path === 'http.trustProxy') return trustedProxies(value);
  if (path === 'clickhouse.shards')
    return value.split(',').map((shard) => shard.split('|').map((url) => url.trim()));
  if (path === 'clickhouse.replicated') return value === 'true' ? true : value;
  if (path === 'catalogue.publicFacilitators') return SWITCHES[value] ?? value;
  if (path === 'cursorSecrets' || path === 'bundles.signingSecrets') return value.split(',');
  if (path === 'chains') return value.split(',').map((chain) => ({ chain: chain.trim() }));
  return value;
}

/** A number of proxies, a list of networks, or a boolean. */
function trustedProxies(value: string): unknown {
  if (/^\d+$/.test(value)) return Number(value);
  if (value === 'true' || value === 'false') return value === 'true';
  return value.split(',').map((network) => network.trim());
}

/** `RPC_URL_8453=https://a,https://b` sets the URLs of one chain, `RPC_URL_SOLANA` those of one that has no number. */
function applyRpcUrls(raw: Record<string, unknown>, env: Environment): void {
  const chains = Array.isArray(raw['chains']) ? raw['chains'] : [{ chain: 'base' }];
  const withUrls = chains.map((entry: unknown) => {
    const facts =
      isRecord(entry) && typeof entry['chain'] === 'string' ? knownChain(entry['chain']) : undefined;
    const urls = facts && env[rpcUrlVariable(facts)];
    return urls && isRecord(entry) ? { ...entry, rpcUrls: urls.split(',').map((url) => url.trim()) } : entry;
  });
  raw['chains'] = withUrls;
}

/** Where the environment names the URLs of a chain: by its id, or by its short name. */
export function rpcUrlVariable({ chain, slug }: Pick<ChainFacts, 'chain' | 'slug'>): string {
  return `RPC_URL_${namespaceOf(chain) === 'eip155' ? referenceOf(chain) : slug.replaceAll('-', '_').toUpperCase()}`;
}

function setAt(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [head = '', ...rest] = path;
  if (rest.length === 0) {
    target[head] = value;
    return;
  }
  const inner = isRecord(target[head]) ? target[head] : {};
  target[head] = inner;
  setAt(inner, rest, value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
