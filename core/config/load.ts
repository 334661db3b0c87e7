import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { chainOf } from '../domain/chains.ts';
import { FEE_PAYERS_PACE, KNOWN_CHAINS } from '../domain/known-chains.ts';
import { knownChain } from '../domain/networks.ts';
import { parseNetwork } from '../ip-address.ts';
import { checkOauth, resolvePayment } from './access.ts';
import { readCatalogueFile, resolveSection } from './catalogue.ts';
import {
  type ChainConfig,
  factsOf,
  resolveCompleteness,
  resolveExplorer,
  resolvePortal,
  resolveRegistries,
  resolveTokenEntry,
} from './chains.ts';
import { checked, readJsonObject } from './checked-file.ts';
import { type Config, ConfigSchema, type FileConfig, type TrustedProxies } from './config.ts';
import { ENVIRONMENT, type Environment, overrideFromEnvironment, rpcUrlVariable } from './environment.ts';
import { configProblems, hideSecrets } from './problem.ts';

/** The variable names a chain; with `_FILE` the value is in a file. */
const RPC_URL = 'RPC_URL_';
const DEFAULT_CONFIG_FILE = 'settlement-index.config.json';

/**
 * Loads, overrides and checks the configuration. `file` comes from the command line; without it the default file is used if it
 * exists. Throws `UserError` with every problem at once.
 */
export function loadConfig(options: { readonly file?: string; readonly env?: Environment } = {}): Config {
  const env = withValueFiles(options.env ?? process.env);
  const path = configPath(options.file, env);
  const raw = overrideFromEnvironment(path === null ? {} : readJsonObject(path), env);
  const config = resolveConfig(checked(ConfigSchema, raw), path);
  // A broken catalogue file at startup is a configuration error like any other.
  if (config.catalogue.file !== null) readCatalogueFile(config.catalogue.file);
  return config;
}

/** Warnings for RPC URL variables that no configured chain uses: a mistyped id, or a chain that is not listed. */
export function unusedRpcUrls({ chains }: Pick<Config, 'chains'>, env: Environment = process.env): string[] {
  const used = new Set(chains.map(({ facts }) => rpcUrlVariable(facts)));
  return Object.entries(env).flatMap(([name, value]) => {
    const variable = name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : name;
    if (!variable.startsWith(RPC_URL) || used.has(variable) || !value) return [];
    const isKnown = KNOWN_CHAINS.some((facts) => rpcUrlVariable(facts) === variable);
    const what = isKnown
      ? 'this chain is not configured (CHAINS)'
      : 'no chain that is known here has this id or name';
    return [`${name} is not used: ${what}`];
  });
}

/** Null when the user named no file and the default one does not exist. */
function configPath(named: string | undefined, env: Environment): string | null {
  const path = resolve(named ?? env['SETTLEMENT_INDEX_CONFIG'] ?? DEFAULT_CONFIG_FILE);
  if (existsSync(path)) return path;
  if (named !== undefined || env['SETTLEMENT_INDEX_CONFIG'] !== undefined)
    throw configProblems([`there is no file ${path}`]);
  return null;
}

const SUFFIX = '_FILE';

/**
 * Reads values from files: `CLICKHOUSE_PASSWORD_FILE=/run/secrets/clickhouse` sets `CLICKHOUSE_PASSWORD` to the text of that file
 * without its trailing newline. This keeps secrets out of the environment, which every child inherits and `docker inspect` shows.
 * Throws `UserError` for an unreadable file and when both variables are set.
 */
export function withValueFiles(env: Environment): Environment {
  const problems: string[] = [];
  const values: Record<string, string> = {};
  for (const [name, path] of Object.entries(env)) {
    const base = name.slice(0, -SUFFIX.length);
    if (!name.endsWith(SUFFIX) || !(base in ENVIRONMENT || base.startsWith(RPC_URL)) || !path) continue;
    if (env[base]) problems.push(`${base} and ${name} are both set`);
    else values[base] = readValue(name, path, problems);
  }
  if (problems.length > 0) throw configProblems(problems);
  return { ...env, ...values };
}

function readValue(name: string, path: string, problems: string[]): string {
  try {
    return readFileSync(path, 'utf8').trimEnd();
  } catch {
    problems.push(`${name} names a file that cannot be read: ${path}`);
    return '';
  }
}

const BASE = chainOf(8453);
/** One day of Base: enough to show data at once, small enough for a public RPC. */
export const DEFAULT_START_BLOCK = -43_200;
const DEFAULT_REQUESTS_PER_SECOND = 50;
const DEFAULT_PARALLEL_WINDOWS = 4;

/**
 * Looks up chains, checks addresses and applies the entries to the built-in facts. `configFile` is the file that the values came
 * from. Throws `UserError`.
 */
export function resolveConfig(file: FileConfig, configFile: string | null): Config {
  const problems: string[] = [];
  const chains = file.chains.map((entry, index) =>
    resolveChain(entry, file.portal, `chains.${index}`, problems),
  );
  if (file.portal.url !== null && !isHttpUrl(file.portal.url))
    problems.push('portal.url (PORTAL_URL) must be an http or https URL, or null');
  const section = resolveSection(file.catalogue, 'catalogue.', problems);
  const seen = new Set<string>();
  for (const entry of file.chains) {
    const name = knownChain(entry.chain)?.slug ?? entry.chain;
    if (seen.has(name)) problems.push(`chains: ${name} is configured twice`);
    seen.add(name);
  }
  if (file.role !== 'all' && file.clickhouse.url === null) {
    problems.push(`role ${file.role} needs clickhouse.url: the embedded engine belongs to role "all"`);
  }
  checkCluster(file.clickhouse, problems);
  const payment = resolvePayment(file.payment, chains, problems);
  checkOauth(file.oauth, problems);
  const trustProxy = resolveProxies(file.http.trustProxy, problems);
  checkGateways(file.identities.ipfsGateways, problems);
  if (problems.length > 0) throw configProblems(problems.map(hideSecrets));
  const catalogueFile = file.catalogue.file === null ? null : resolve(file.catalogue.file);
  return {
    ...file,
    configFile,
    dataDir: resolve(file.dataDir),
    bundles: { ...file.bundles, dir: resolve(file.bundles.dir ?? join(file.dataDir, 'bundles')) },
    http: { ...file.http, trustProxy },
    chains,
    payment,
    catalogue: {
      ...section,
      file: catalogueFile,
      acceptProposalsAbove: file.catalogue.acceptProposalsAbove,
      publicFacilitators: file.catalogue.publicFacilitators && chains.some(({ chain }) => chain === BASE),
    },
  };
}

function checkGateways(gateways: readonly string[], problems: string[]): void {
  for (const gateway of gateways)
    if (!/^https?:$/.test(URL.canParse(gateway) ? new URL(gateway).protocol : ''))
      problems.push('identities.ipfsGateways: every entry must be an http or https URL');
}

function resolveChain(
  entry: FileConfig['chains'][number],
  portal: FileConfig['portal'],
  at: string,
  problems: string[],
): ChainConfig {
  const facts = factsOf(entry, at, problems);
  const added = (entry.tokens ?? []).map((token, index) =>
    resolveTokenEntry(token, facts.chain, `${at}.tokens.${index}`, problems),
  );
  const rpcUrls = entry.rpcUrls ?? facts.publicRpcUrls;
  for (const url of rpcUrls) {
    if (!/^(https?|wss?):$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
      problems.push(`${at}.rpcUrls: every entry must be an http, https, ws or wss URL`);
    }
  }
  const tokens = [
    ...facts.tokens.filter((token) => !added.some((own) => own.address === token.address)),
    ...added,
  ];
  const completeness = resolveCompleteness(entry, facts.chain, at, problems);
  const pace =
    completeness === 'fee-payers'
      ? FEE_PAYERS_PACE
      : { logWindowMax: facts.logWindowMax, pollMs: Math.max(250, Math.floor(facts.blockTimeMs / 2)) };
  return {
    chain: facts.chain,
    facts,
    rpcUrls,
    startBlock: entry.startBlock ?? DEFAULT_START_BLOCK,
    tokens,
    registries: resolveRegistries(entry.registries, { facts, tokens }, `${at}.registries`, problems),
    logWindowMax: entry.logWindowMax ?? pace.logWindowMax,
    requestsPerSecond: entry.requestsPerSecond ?? DEFAULT_REQUESTS_PER_SECOND,
    parallelWindows: entry.parallelWindows ?? DEFAULT_PARALLEL_WINDOWS,
    completeness,
    portal: resolvePortal(portal, entry, { facts, rpcUrls }),
    pollMs: entry.pollMs ?? pace.pollMs,
    finalityDepth: entry.finalityDepth ?? facts.finalityDepth,
    relayerFees: entry.relayerFees ?? true,
    sampleDataTo: entry.sampleDataTo ?? null,
    explorerUrl: resolveExplorer(entry.explorerUrl, facts, `${at}.explorerUrl`, problems),
  };
}

/** Checks that the cluster settings are consistent. Messages never quote a URL: its path may be a secret. */
export function checkCluster(
  { url, cluster, shards, replicated }: FileConfig['clickhouse'],
  problems: string[],
): void {
  if (cluster === null) {
    if (shards.length > 0) problems.push('clickhouse.shards needs clickhouse.cluster');
    if (replicated) problems.push('clickhouse.replicated needs clickhouse.cluster');
    return;
  }
  if (url === null) problems.push('clickhouse.cluster needs clickhouse.url: where questions are sent');
  if (shards.length === 0) problems.push('clickhouse.cluster needs clickhouse.shards: the URLs of its nodes');
  const urls = shards.flat();
  if (!urls.every(isHttpUrl)) problems.push('clickhouse.shards: every entry must be an http or https URL');
  if (new Set(urls).size !== urls.length) problems.push('clickhouse.shards names a node twice');
  if (!replicated && shards.some((replicas) => replicas.length > 1))
    problems.push('clickhouse.shards: without clickhouse.replicated a shard has one node');
}

function isHttpUrl(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

/**
 * Checks `http.trustProxy`. Refuses values that trust every address or the whole X-Forwarded-For: a caller could then choose the
 * address that its requests are counted under. Adds its findings to `problems`.
 */
export function resolveProxies(
  value: boolean | number | readonly string[],
  problems: string[],
): TrustedProxies {
  if (value === true) {
    problems.push(
      'http.trustProxy (TRUST_PROXY): true would believe whatever a caller writes into X-Forwarded-For; give the number of proxies in front of this process, such as 1, or a list of their addresses and networks, such as ["10.0.0.0/8"]',
    );
    return false;
  }
  if (typeof value !== 'object') return value;
  for (const [index, text] of value.entries()) {
    const network = parseNetwork(text);
    const at = `http.trustProxy.${index} (TRUST_PROXY)`;
    if (network === null)
      problems.push(
        `${at}: must be an address or a network such as 10.0.0.0/8 or fd00::/8, not ${JSON.stringify(text)}`,
      );
    else if (network.bits === 0)
      problems.push(
        `${at}: ${text} is every address, and every caller could write X-Forwarded-For; name the proxies`,
      );
  }
  return value;
}
