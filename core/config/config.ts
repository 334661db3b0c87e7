import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { LOG_LEVELS } from '../log.ts';
import {
  AccessSchema,
  ControlSchema,
  OauthSchema,
  type PaymentConfig,
  PaymentSchema,
  PlansSchema,
} from './access.ts';
import { CatalogueSchema, type CatalogueSection } from './catalogue.ts';
import { type ChainConfig, ChainSchema } from './chains.ts';

export const MetricsSchema = Type.Object(
  {
    host: Type.String({
      default: '127.0.0.1',
      description: 'Address on which `/metrics` is served. Never the public one: figures are for operators.',
    }),
    port: Type.Union([Type.Integer({ minimum: 0, maximum: 65534 }), Type.Null()], {
      default: null,
      description:
        'Port of `/metrics` (9464 is usual). Role `all` takes the next one too, for its workers, which are a process of their own. 0 picks free ones; null serves none.',
    }),
  },
  { default: {}, additionalProperties: false },
);

export const TracingSchema = Type.Object(
  {
    endpoint: Type.Union([Type.String({ pattern: '^https?://' }), Type.Null()], {
      default: null,
      description:
        'Where spans go: the base URL of an OTLP/HTTP receiver, without `/v1/traces`. Null: no traces, and nothing of their library is loaded.',
    }),
    sampleRatio: Type.Number({
      default: 1,
      minimum: 0,
      maximum: 1,
      description: 'Share of the requests that are traced; one that comes with a `traceparent` follows that.',
    }),
  },
  { default: {}, additionalProperties: false },
);

/** The key `identities`. Third parties choose the URLs that are fetched here; docs/identities.md describes the safeguards. */
export const IdentitiesSchema = Type.Object(
  {
    fetch: Type.Boolean({
      default: true,
      description:
        'Whether files that strangers name are fetched: agents’ registration files, feedback files, and /.well-known/x402 of contested resources’ origins.',
    }),
    fetchConcurrency: Type.Integer({
      default: 16,
      minimum: 1,
      maximum: 256,
      description: 'Files that are fetched at once. One host is asked for one at a time.',
    }),
    ipfsGateways: Type.Array(Type.String(), {
      default: ['https://ipfs.io', 'https://dweb.link', 'https://gateway.pinata.cloud'],
      description:
        'Base URLs of IPFS gateways, tried in turn. They are the operator’s word: a gateway may be in a private network.',
    }),
    ports: Type.Array(Type.Integer({ minimum: 1, maximum: 65535 }), {
      default: [],
      description: 'Further ports that may be fetched from, in addition to 80, 443, 8080 and 8443.',
    }),
    allowHttp: Type.Boolean({
      default: false,
      description: 'Whether files are fetched over http: too, where anyone on the way may change them.',
    }),
    allowPrivateHosts: Type.Boolean({
      default: false,
      description:
        'For trials: lets URLs of registered agents reach loopback, at any port and over http:. Other private networks stay closed.',
    }),
  },
  { default: {}, additionalProperties: false },
);

export const ConsoleSchema = Type.Object(
  {
    visitorKey: Type.Union([Type.String({ pattern: '^six_live_[0-9A-Za-z]{43}$' }), Type.Null()], {
      default: null,
      description:
        'API key that the web console lends to visitors without one. Everybody who opens /console can read it: give it an organization of its own, with as many units as you give away. Null: visitors see the free pages, and enter a key for the rest.',
    }),
  },
  { default: {}, additionalProperties: false },
);

export const ClickhouseInterfaceSchema = Type.Object(
  {
    host: Type.String({
      default: '127.0.0.1',
      description: 'Listening address of the port for ClickHouse clients.',
    }),
    port: Type.Union([Type.Integer({ minimum: 0, maximum: 65535 }), Type.Null()], {
      default: null,
      description:
        'Port with the ClickHouse HTTP interface at its root (8123 is usual), for tools that take no path; 0 picks a free one. Null: the interface is only below `/clickhouse` of the API’s port.',
    }),
  },
  { default: {}, additionalProperties: false },
);

export const BundlesSchema = Type.Object(
  {
    dir: Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
      default: null,
      description:
        'Directory of the daily Parquet files that `bundle` makes and `/v0/bundles` serves. Null: `bundles` in the data directory.',
    }),
    signingSecrets: Type.Array(Type.String({ minLength: 32 }), {
      default: [],
      description:
        'Secrets that the Ed25519 keys of bundles come from, newest first; the first signs, the public keys of all are published. Default: one generated key in the data directory.',
    }),
  },
  { default: {}, additionalProperties: false },
);

/** The key `results`: where results of jobs are kept. */
export const ResultsSchema = Type.Object(
  {
    directory: Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
      default: null,
      description:
        'Directory of kept results. Several API processes share one, or use `results.s3`. Null: `results` in the data directory.',
    }),
    maxGigabytes: Type.Number({
      minimum: 0,
      default: 20,
      description:
        'How much kept results may take together, in 10⁹ bytes. Results that are paid for without an organization, and those that others make of saved queries, are kept while all take less than half of it. Above it queries are answered, and their results are not kept.',
    }),
    minFreeGigabytes: Type.Number({
      minimum: 0,
      default: 1,
      description:
        'Free space on the disk of `results.directory`, in 10⁹ bytes, below which no result is kept. Without a meaning for `results.s3`.',
    }),
    s3: Type.Union(
      [
        Type.Object(
          {
            endpoint: Type.String({ pattern: '^https?://' }),
            bucket: Type.String({ minLength: 1 }),
            region: Type.String({ default: 'us-east-1' }),
            accessKeyId: Type.String({ minLength: 1 }),
            secretAccessKey: Type.String({ minLength: 1 }),
            prefix: Type.String({ default: '', pattern: '^[A-Za-z0-9/_-]*$' }),
          },
          { additionalProperties: false },
        ),
        Type.Null(),
      ],
      {
        default: null,
        description:
          'S3-compatible storage of kept results, in place of the directory: `endpoint`, `bucket`, `accessKeyId`, `secretAccessKey`, and where needed `region` (us-east-1) and `prefix` of the names.',
      },
    ),
  },
  { default: {}, additionalProperties: false },
);

const UserSchema = Type.Object(
  { user: Type.String({ minLength: 1 }), password: Type.String() },
  { additionalProperties: false },
);

/**
 * The one configuration schema. A JSON file (`settlement-index.config.json`) gives values, environment variables override
 * them, defaults fill the rest. docs/reference/configuration.md is generated from here.
 */
export const ConfigSchema = Type.Object(
  {
    role: Type.Union(
      [Type.Literal('all'), Type.Literal('api'), Type.Literal('ingest'), Type.Literal('rollup')],
      {
        default: 'all',
        description: 'What this process does. Every role but `all` needs `clickhouse.url`.',
      },
    ),
    dataDir: Type.String({
      default: './data',
      description: 'Where the embedded engine and the generated secrets live.',
    }),
    logLevel: Type.Union(
      LOG_LEVELS.map((level) => Type.Literal(level)),
      { default: 'info', description: 'Structured log lines go to stderr.' },
    ),
    http: Type.Object(
      {
        host: Type.String({ default: '127.0.0.1', description: 'Listening address.' }),
        port: Type.Integer({
          default: 8402,
          minimum: 0,
          maximum: 65535,
          description: 'Listening port; 0 picks a free one.',
        }),
        publicUrl: Type.Union([Type.String(), Type.Null()], {
          default: null,
          description: 'The URL callers use, for links in answers.',
        }),
        trustProxy: Type.Union(
          [Type.Boolean(), Type.Integer({ minimum: 1 }), Type.Array(Type.String(), { minItems: 1 })],
          {
            default: false,
            description:
              'Whose X-Forwarded-For names the caller: the number of proxies in front of this process, or a list of their addresses and networks (CIDR). False: the header is ignored; the caller is the address that connects.',
          },
        ),
        maxConnections: Type.Integer({
          default: 4096,
          minimum: 1,
          description: 'Connections served at once; one beyond is answered 503 and closed.',
        }),
        requestsPerMinute: Type.Integer({
          default: 600,
          minimum: 1,
          description: 'Requests a minute per anonymous address.',
        }),
        keepAliveSeconds: Type.Integer({
          default: 72,
          minimum: 1,
          maximum: 3_600,
          description:
            'How long an idle connection stays open: longer than the idle time of the proxy in front, so that the proxy closes first and no request is lost.',
        }),
        mcpOrigins: Type.Array(Type.String({ pattern: '^https?://[^/]+$' }), {
          default: [],
          description:
            'Origins, such as `https://app.example`, whose pages may use `/mcp` from a browser with a key of their own (`X-API-Key` or a bearer token).',
        }),
      },
      { default: {}, additionalProperties: false },
    ),
    clickhouse: Type.Object(
      {
        url: Type.Union([Type.String(), Type.Null()], {
          default: null,
          description: 'A ClickHouse HTTP URL. Null: run the embedded engine.',
        }),
        database: Type.String({
          default: 'settlement_index',
          pattern: '^[a-z][a-z0-9_]{0,62}$',
          description: 'Database of our tables.',
        }),
        writer: Type.Union([UserSchema, Type.Null()], {
          default: null,
          description: 'User for DDL and inserts (remote engine).',
        }),
        reader: Type.Union([UserSchema, Type.Null()], {
          default: null,
          description: 'User for reads (remote engine). Default: the writer.',
        }),
        guest: Type.Union([UserSchema, Type.Null()], {
          default: null,
          description: 'User for analysts’ SQL (remote engine).',
        }),
        cluster: Type.Union([Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,62}$' }), Type.Null()], {
          default: null,
          description: 'Name of a cluster in `remote_servers`: tables then reach over all its shards.',
        }),
        shards: Type.Array(Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }), {
          default: [],
          description:
            'HTTP URLs of the replicas of each shard, in the order of `remote_servers`. In the variable as the engine spells it: `,` between shards, `|` between replicas.',
        }),
        replicated: Type.Boolean({
          default: false,
          description:
            'Whether tables are Replicated: the nodes need a Keeper and the macros `shard` and `replica`.',
        }),
        maxMemoryMegabytes: Type.Union([Type.Integer({ minimum: 512 }), Type.Null()], {
          default: null,
          description: 'Memory cap of the embedded engine. null: half of the memory of the machine.',
        }),
      },
      { default: {}, additionalProperties: false },
    ),
    chains: Type.Array(ChainSchema, {
      default: [{ chain: 'base' }],
      minItems: 1,
      description: 'Chains to index and serve. The first is the default of questions about one chain.',
    }),
    portal: Type.Object(
      {
        url: Type.Union([Type.String(), Type.Null()], {
          default: 'https://portal.sqd.dev',
          description:
            'SQD Portal from which final blocks are read where it has the chain (`portalDataset`). null, PORTAL_URL=none or `--no-portal`: every block is read over JSON-RPC.',
        }),
        requestsPer10Seconds: Type.Integer({
          default: 20,
          minimum: 2,
          maximum: 100_000,
          description: 'Upper bound of requests to the Portal in any ten seconds, all chains together.',
        }),
      },
      { default: {}, additionalProperties: false },
    ),
    ingest: Type.Object(
      {
        jobsAtOnce: Type.Integer({
          default: 2,
          minimum: 1,
          maximum: 64,
          description:
            'Range jobs that an ingest process works on at once, where several share the backfill over Redis.',
        }),
      },
      { default: {}, additionalProperties: false },
    ),
    catalogue: CatalogueSchema,
    identities: IdentitiesSchema,
    access: AccessSchema,
    plans: PlansSchema,
    payment: PaymentSchema,
    oauth: OauthSchema,
    control: ControlSchema,
    bundles: BundlesSchema,
    results: ResultsSchema,
    console: ConsoleSchema,
    clickhouseInterface: ClickhouseInterfaceSchema,
    metrics: MetricsSchema,
    tracing: TracingSchema,
    cursorSecrets: Type.Array(Type.String({ minLength: 32 }), {
      default: [],
      description: 'Keys that sign cursors, newest first. Default: one generated key in the data directory.',
    }),
  },
  { additionalProperties: false },
);

/** The configuration as written: checked and with defaults, names not yet resolved. */
export type FileConfig = Static<typeof ConfigSchema>;

/** The schema of one configuration key, for the generated documentation. */
export function configKeys(schema: TSchema = ConfigSchema, prefix = ''): { key: string; schema: TSchema }[] {
  const properties: Record<string, TSchema> = schema['properties'] ?? {};
  return Object.entries(properties).flatMap(([name, inner]) =>
    inner['type'] === 'object' && inner['properties']
      ? configKeys(inner, `${prefix}${name}.`)
      : [{ key: `${prefix}${name}`, schema: inner }],
  );
}

/** Which proxies may set X-Forwarded-For: none, this many proxies in front, or these networks (CIDR). */
export type TrustedProxies = false | number | readonly string[];

export interface Config
  extends Omit<FileConfig, 'bundles' | 'chains' | 'catalogue' | 'dataDir' | 'http' | 'payment'> {
  /** Absolute path of the file that this was read from; null when there was none. */
  readonly configFile: string | null;
  /** Absolute. */
  readonly dataDir: string;
  /** `dir` is absolute. */
  readonly bundles: Omit<FileConfig['bundles'], 'dir'> & { readonly dir: string };
  readonly http: Omit<FileConfig['http'], 'trustProxy'> & { readonly trustProxy: TrustedProxies };
  readonly chains: readonly ChainConfig[];
  readonly payment: PaymentConfig;
  readonly catalogue: CatalogueSection & {
    /** Absolute path of the catalogue file, null for none. */
    readonly file: string | null;
    /** Whether public facilitators are asked: where they are not turned off and Base is indexed. */
    readonly publicFacilitators: boolean;
    /** Null: an operator accepts. */
    readonly acceptProposalsAbove: number | null;
  };
}
