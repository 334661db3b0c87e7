import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { type Address, isAddress, readAddress } from './domain/address.ts';
import { type Chain, chainOf } from './domain/chain.ts';
import { type ChainFacts, KNOWN_CHAINS, knownChain, type TokenFacts } from './domain/known-chains.ts';
import { LOG_LEVELS } from './log.ts';

/**
 * The one configuration schema. A JSON file (`settlement-index.config.json`) gives values, environment variables override
 * them, defaults fill the rest. docs/reference/configuration.md is generated from here.
 */

const UserSchema = Type.Object(
  { user: Type.String({ minLength: 1 }), password: Type.String() },
  { additionalProperties: false },
);

const TokenSchema = Type.Object(
  {
    address: Type.String(),
    symbol: Type.String({ minLength: 1, maxLength: 16 }),
    decimals: Type.Integer({ minimum: 0, maximum: 36 }),
    name: Type.Optional(Type.String()),
    version: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);

const ChainSchema = Type.Object(
  {
    chain: Type.String({ description: 'Short name (`base`) or CAIP-2 name (`eip155:8453`).' }),
    rpcUrls: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        description:
          'JSON-RPC URLs, tried in turn. http(s) polls, ws(s) subscribes to new heads. Default: the chain’s public RPC.',
      }),
    ),
    startBlock: Type.Optional(
      Type.Integer({
        description:
          'First block to index. Negative: that many blocks before the tip, at each start; what is indexed already is kept.',
      }),
    ),
    tokens: Type.Optional(
      Type.Array(TokenSchema, {
        minItems: 1,
        description: 'EIP-3009 tokens to index beside the built-in ones.',
      }),
    ),
    logWindowMax: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Upper bound of blocks per eth_getLogs.' }),
    ),
    requestsPerSecond: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100_000,
        description: 'Upper bound of JSON-RPC calls per second and URL.',
      }),
    ),
    parallelWindows: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 64, description: 'Backfill windows read at once.' }),
    ),
    completeness: Type.Optional(
      Type.Union([Type.Literal('every-block'), Type.Literal('settlement-blocks')], {
        description:
          'every-block (default) reads each header and proves with its bloom filter that no log is missing; settlement-blocks reads only blocks with settlements in the backfill: fewer calls, trusting the node.',
      }),
    ),
    pollMs: Type.Optional(
      Type.Integer({
        minimum: 20,
        maximum: 600_000,
        description: 'How often the tip is asked for. Default: half the block time.',
      }),
    ),
    finalityDepth: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'Depth of finality where the node lacks the tag `finalized`.',
      }),
    ),
  },
  { additionalProperties: false },
);

const FacilitatorSchema = Type.Object(
  {
    id: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 80 })),
    builderCodes: Type.Optional(Type.Array(Type.String({ pattern: '^[a-z0-9_]{1,32}$' }))),
    relayers: Type.Array(
      Type.Object(
        {
          chain: Type.String(),
          address: Type.String(),
          firstSeen: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

const PayeeSchema = Type.Object(
  {
    chain: Type.String(),
    address: Type.String(),
    name: Type.Optional(Type.String({ maxLength: 200 })),
    resource: Type.Optional(Type.String({ maxLength: 2000 })),
  },
  { additionalProperties: false },
);

export const ConfigSchema = Type.Object(
  {
    role: Type.Union([Type.Literal('all'), Type.Literal('api'), Type.Literal('ingest')], {
      default: 'all',
      description: 'What this process does. `api` and `ingest` alone need `clickhouse.url`.',
    }),
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
        trustProxy: Type.Boolean({
          default: false,
          description: 'Whether X-Forwarded-For names the caller.',
        }),
        requestsPerMinute: Type.Integer({
          default: 600,
          minimum: 1,
          description: 'Requests a minute per anonymous address.',
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
        maxMemoryMegabytes: Type.Integer({
          default: 4096,
          minimum: 512,
          description: 'Memory cap of the embedded engine.',
        }),
      },
      { default: {}, additionalProperties: false },
    ),
    chains: Type.Array(ChainSchema, {
      default: [{ chain: 'base' }],
      minItems: 1,
      description: 'Chains to index and serve.',
    }),
    catalogue: Type.Object(
      {
        facilitators: Type.Array(FacilitatorSchema, {
          default: [],
          description: 'Named facilitators beside the built-in dated table.',
        }),
        payees: Type.Array(PayeeSchema, { default: [], description: 'payTo addresses of known resources.' }),
      },
      { default: {}, additionalProperties: false },
    ),
    cursorSecrets: Type.Array(Type.String({ minLength: 32 }), {
      default: [],
      description: 'Keys that sign cursors, newest first. Default: one generated key in the data directory.',
    }),
  },
  { additionalProperties: false },
);

type FileConfig = Static<typeof ConfigSchema>;

/** A chain as the program uses it: built-in facts with the configuration laid over them. */
export interface ChainConfig {
  readonly chain: Chain;
  readonly facts: ChainFacts;
  readonly rpcUrls: readonly string[];
  readonly startBlock: number;
  readonly tokens: readonly TokenFacts[];
  readonly logWindowMax: number;
  readonly requestsPerSecond: number;
  readonly parallelWindows: number;
  readonly completeness: 'every-block' | 'settlement-blocks';
  readonly pollMs: number;
  readonly finalityDepth: number;
}

export interface FacilitatorConfig {
  readonly id: string;
  readonly name: string;
  readonly builderCodes: readonly string[];
  readonly relayers: readonly {
    readonly chain: Chain;
    readonly address: Address;
    readonly firstSeen: string;
  }[];
}

export interface PayeeConfig {
  readonly chain: Chain;
  readonly address: Address;
  readonly name: string;
  readonly resource: string;
}

export interface Config extends Omit<FileConfig, 'chains' | 'catalogue' | 'dataDir'> {
  /** Absolute. */
  readonly dataDir: string;
  readonly chains: readonly ChainConfig[];
  readonly catalogue: {
    readonly facilitators: readonly FacilitatorConfig[];
    readonly payees: readonly PayeeConfig[];
  };
}

/** What a user must correct, one line per problem. */
export class ConfigProblem extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigProblem';
    this.problems = problems;
  }
}

/** One day of Base: enough to see something at once, small enough for a public RPC. */
const DEFAULT_START_BLOCK = -43_200;
const DEFAULT_REQUESTS_PER_SECOND = 50;
const DEFAULT_PARALLEL_WINDOWS = 4;
const DEFAULT_CONFIG_FILE = 'settlement-index.config.json';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Loads, overrides, checks. `file` is what the user named on the command line; without it the default file is used when
 * it exists. Throws `ConfigProblem` with every problem at once.
 */
export function loadConfig(options: { readonly file?: string; readonly env?: Environment } = {}): Config {
  const env = options.env ?? process.env;
  const raw = overrideFromEnvironment(readConfigFile(options.file, env), env);
  const filled = Value.Default(ConfigSchema, Value.Clone(raw));
  const problems = [...Value.Errors(ConfigSchema, filled)].map(
    ({ path, message, value }) =>
      `${path === '' ? 'configuration' : path.slice(1).replaceAll('/', '.')}: ${message}, not ${JSON.stringify(value) ?? 'absent'}`,
  );
  if (problems.length > 0) throw new ConfigProblem([...new Set(problems.map(hideSecrets))]);
  return resolveConfig(filled as FileConfig);
}

function readConfigFile(named: string | undefined, env: Environment): Record<string, unknown> {
  const path = resolve(named ?? env['SETTLEMENT_INDEX_CONFIG'] ?? DEFAULT_CONFIG_FILE);
  if (!existsSync(path)) {
    if (named !== undefined || env['SETTLEMENT_INDEX_CONFIG'] !== undefined)
      throw new ConfigProblem([`there is no file ${path}`]);
    return {};
  }
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>; // checked by the schema right after
  } catch (cause) {
    throw new ConfigProblem([
      `${path} is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`,
    ]);
  }
}

/** Environment variables, each with the place it sets. Read by the docs generator too. */
export const ENVIRONMENT = {
  ROLE: 'role',
  DATA_DIR: 'dataDir',
  LOG_LEVEL: 'logLevel',
  HOST: 'http.host',
  PORT: 'http.port',
  PUBLIC_URL: 'http.publicUrl',
  CLICKHOUSE_URL: 'clickhouse.url',
  CLICKHOUSE_DATABASE: 'clickhouse.database',
  CLICKHOUSE_USER: 'clickhouse.writer.user',
  CLICKHOUSE_PASSWORD: 'clickhouse.writer.password',
  CLICKHOUSE_READER_USER: 'clickhouse.reader.user',
  CLICKHOUSE_READER_PASSWORD: 'clickhouse.reader.password',
  CLICKHOUSE_GUEST_USER: 'clickhouse.guest.user',
  CLICKHOUSE_GUEST_PASSWORD: 'clickhouse.guest.password',
  CURSOR_SECRETS: 'cursorSecrets',
  CHAINS: 'chains',
} as const;

function overrideFromEnvironment(file: Record<string, unknown>, env: Environment): Record<string, unknown> {
  const raw = structuredClone(file);
  for (const [name, path] of Object.entries(ENVIRONMENT)) {
    const value = env[name];
    if (value !== undefined && value !== '') setAt(raw, path.split('.'), environmentValue(path, value));
  }
  applyRpcUrls(raw, env);
  return raw;
}

function environmentValue(path: string, value: string): unknown {
  if (path === 'http.port') return /^\d+$/.test(value) ? Number(value) : value;
  if (path === 'cursorSecrets') return value.split(',');
  if (path === 'chains') return value.split(',').map((chain) => ({ chain: chain.trim() }));
  return value;
}

/** `RPC_URL_8453=https://a,https://b` sets the URLs of one chain. */
function applyRpcUrls(raw: Record<string, unknown>, env: Environment): void {
  const chains = Array.isArray(raw['chains']) ? raw['chains'] : [{ chain: 'base' }];
  const withUrls = chains.map((entry: unknown) => {
    const facts =
      isRecord(entry) && typeof entry['chain'] === 'string' ? knownChain(entry['chain']) : undefined;
    const urls = facts && env[`RPC_URL_${facts.chainId}`];
    return urls && isRecord(entry) ? { ...entry, rpcUrls: urls.split(',').map((url) => url.trim()) } : entry;
  });
  raw['chains'] = withUrls;
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

/** A password or a URL with a path key must not be echoed back by a validation message. */
function hideSecrets(problem: string): string {
  return /password|secret|rpcUrls|clickhouse\.url/i.test(problem)
    ? problem.replace(/, not .*$/s, '')
    : problem;
}

function resolveConfig(file: FileConfig): Config {
  const problems: string[] = [];
  const chains = file.chains.map((entry, index) => resolveChain(entry, `chains.${index}`, problems));
  const facilitators = file.catalogue.facilitators.map((entry, index) =>
    resolveFacilitator(entry, `catalogue.facilitators.${index}`, problems),
  );
  const payees = file.catalogue.payees.map((entry, index) => ({
    chain: resolveChainName(entry.chain, `catalogue.payees.${index}.chain`, problems),
    address: resolveAddress(entry.address, `catalogue.payees.${index}.address`, problems),
    name: entry.name ?? '',
    resource: entry.resource ?? '',
  }));
  const seen = new Set<string>();
  for (const entry of file.chains) {
    const name = knownChain(entry.chain)?.slug ?? entry.chain;
    if (seen.has(name)) problems.push(`chains: ${name} is configured twice`);
    seen.add(name);
  }
  if (file.role !== 'all' && file.clickhouse.url === null) {
    problems.push(`role ${file.role} needs clickhouse.url: the embedded engine belongs to role "all"`);
  }
  if (problems.length > 0) throw new ConfigProblem(problems.map(hideSecrets));
  return { ...file, dataDir: resolve(file.dataDir), chains, catalogue: { facilitators, payees } };
}

function resolveChain(entry: FileConfig['chains'][number], at: string, problems: string[]): ChainConfig {
  const facts = knownChain(entry.chain) ?? unknownChain(entry.chain, at, problems);
  const added = (entry.tokens ?? []).map(
    (token, index): TokenFacts => ({
      address: resolveAddress(token.address, `${at}.tokens.${index}.address`, problems),
      symbol: token.symbol,
      decimals: token.decimals,
      domain: { name: token.name ?? token.symbol, version: token.version ?? '1' },
    }),
  );
  const rpcUrls = entry.rpcUrls ?? facts.publicRpcUrls;
  for (const url of rpcUrls) {
    if (!/^(https?|wss?):$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
      problems.push(`${at}.rpcUrls: every entry must be an http, https, ws or wss URL`);
    }
  }
  return {
    chain: chainOf(facts.chainId),
    facts,
    rpcUrls,
    startBlock: entry.startBlock ?? DEFAULT_START_BLOCK,
    tokens: [
      ...facts.tokens.filter((token) => !added.some((own) => own.address === token.address)),
      ...added,
    ],
    logWindowMax: entry.logWindowMax ?? facts.logWindowMax,
    requestsPerSecond: entry.requestsPerSecond ?? DEFAULT_REQUESTS_PER_SECOND,
    parallelWindows: entry.parallelWindows ?? DEFAULT_PARALLEL_WINDOWS,
    completeness: entry.completeness ?? 'every-block',
    pollMs: entry.pollMs ?? Math.max(250, Math.floor(facts.blockTimeMs / 2)),
    finalityDepth: entry.finalityDepth ?? facts.finalityDepth,
  };
}

function resolveFacilitator(
  entry: FileConfig['catalogue']['facilitators'][number],
  at: string,
  problems: string[],
): FacilitatorConfig {
  return {
    id: entry.id,
    name: entry.name ?? entry.id,
    builderCodes: entry.builderCodes ?? [],
    relayers: entry.relayers.map((relayer, index) => ({
      chain: resolveChainName(relayer.chain, `${at}.relayers.${index}.chain`, problems),
      address: resolveAddress(relayer.address, `${at}.relayers.${index}.address`, problems),
      firstSeen: relayer.firstSeen,
    })),
  };
}

function resolveChainName(name: string, at: string, problems: string[]): Chain {
  return chainOf((knownChain(name) ?? unknownChain(name, at, problems)).chainId);
}

function unknownChain(name: string, at: string, problems: string[]): ChainFacts {
  problems.push(
    `${at}: unknown chain "${name}"; known: ${KNOWN_CHAINS.map(({ slug, chainId }) => `${slug} (eip155:${chainId})`).join(', ')}`,
  );
  return KNOWN_CHAINS[0] as ChainFacts; // never used: the problem above ends the load
}

function resolveAddress(text: string, at: string, problems: string[]): Address {
  const outcome = readAddress(text);
  if (isAddress(outcome)) return outcome;
  problems.push(
    `${at}: ${outcome === 'checksum' ? 'the EIP-55 checksum is wrong' : 'not an address'}: ${text}`,
  );
  return '' as Address; // never used: the problem above ends the load
}

/** The schema of one configuration key, for the generated documentation. */
export function configKeys(schema: TSchema = ConfigSchema, prefix = ''): { key: string; schema: TSchema }[] {
  const properties: Record<string, TSchema> = schema['properties'] ?? {};
  return Object.entries(properties).flatMap(([name, inner]) =>
    inner['type'] === 'object' && inner['properties']
      ? configKeys(inner, `${prefix}${name}.`)
      : [{ key: `${prefix}${name}`, schema: inner }],
  );
}
