import { resolve } from 'node:path';
import { chainOf } from '../domain/chain.ts';
import { knownChain, type TokenFacts } from '../domain/known-chains.ts';
import type { ChainConfig, Config } from './config.ts';
import { configProblems, hideSecrets } from './problem.ts';
import { checkOauth, resolvePayment } from './resolve-access.ts';
import { resolveSection } from './resolve-catalogue.ts';
import { checkCluster } from './resolve-cluster.ts';
import { resolveAddress, unknownChain } from './resolve-names.ts';
import { resolveProxies } from './resolve-proxies.ts';
import { resolveRegistries } from './resolve-registries.ts';
import type { FileConfig } from './schema.ts';

/** One day of Base: enough to see something at once, small enough for a public RPC. */
const DEFAULT_START_BLOCK = -43_200;
const DEFAULT_REQUESTS_PER_SECOND = 50;
const DEFAULT_PARALLEL_WINDOWS = 4;

/**
 * Looks up chains, checks addresses and lays the entries over the built-in facts. `configFile` is where the values came from.
 * Throws `UserError`.
 */
export function resolveConfig(file: FileConfig, configFile: string | null): Config {
  const problems: string[] = [];
  const chains = file.chains.map((entry, index) => resolveChain(entry, `chains.${index}`, problems));
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
    http: { ...file.http, trustProxy },
    chains,
    payment,
    catalogue: { ...section, file: catalogueFile },
  };
}

function checkGateways(gateways: readonly string[], problems: string[]): void {
  for (const gateway of gateways)
    if (!/^https?:$/.test(URL.canParse(gateway) ? new URL(gateway).protocol : ''))
      problems.push('identities.ipfsGateways: every entry must be an http or https URL');
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
  const tokens = [
    ...facts.tokens.filter((token) => !added.some((own) => own.address === token.address)),
    ...added,
  ];
  return {
    chain: chainOf(facts.chainId),
    facts,
    rpcUrls,
    startBlock: entry.startBlock ?? DEFAULT_START_BLOCK,
    tokens,
    registries: resolveRegistries(entry.registries, { facts, tokens }, `${at}.registries`, problems),
    logWindowMax: entry.logWindowMax ?? facts.logWindowMax,
    requestsPerSecond: entry.requestsPerSecond ?? DEFAULT_REQUESTS_PER_SECOND,
    parallelWindows: entry.parallelWindows ?? DEFAULT_PARALLEL_WINDOWS,
    completeness: entry.completeness ?? 'every-block',
    pollMs: entry.pollMs ?? Math.max(250, Math.floor(facts.blockTimeMs / 2)),
    finalityDepth: entry.finalityDepth ?? facts.finalityDepth,
    sampleDataTo: entry.sampleDataTo ?? null,
  };
}
