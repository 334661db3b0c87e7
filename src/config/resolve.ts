import { resolve } from 'node:path';
import { type Address, isAddress, readAddress } from '../domain/address.ts';
import { type Chain, chainOf } from '../domain/chain.ts';
import { type ChainFacts, KNOWN_CHAINS, knownChain, type TokenFacts } from '../domain/known-chains.ts';
import type { ChainConfig, Config, FacilitatorConfig } from './config.ts';
import { ConfigProblem, hideSecrets } from './problem.ts';
import type { FileConfig } from './schema.ts';

/** One day of Base: enough to see something at once, small enough for a public RPC. */
const DEFAULT_START_BLOCK = -43_200;
const DEFAULT_REQUESTS_PER_SECOND = 50;
const DEFAULT_PARALLEL_WINDOWS = 4;

/** Looks up chains, checks addresses and lays the entries over the built-in facts. Throws `ConfigProblem`. */
export function resolveConfig(file: FileConfig): Config {
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
