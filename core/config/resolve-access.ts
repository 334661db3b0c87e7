import { USD_DECIMALS } from '../domain/amount.ts';
import { chainOf } from '../domain/chain.ts';
import { knownChain, type TokenFacts } from '../domain/known-chains.ts';
import type { AcceptedPayment, ChainConfig, PaymentConfig } from './config.ts';
import { resolveAddress, unknownChain } from './resolve-names.ts';
import type { FileConfig } from './schema.ts';

/** Looks up what `payment.accept` names. Adds what is wrong to `problems`. */
export function resolvePayment(
  payment: FileConfig['payment'],
  chains: readonly ChainConfig[],
  problems: string[],
): PaymentConfig {
  const { facilitatorUrl } = payment;
  if (facilitatorUrl !== null && !isHttpUrl(facilitatorUrl))
    problems.push('payment.facilitatorUrl: must be an http or https URL');
  if (facilitatorUrl !== null && hasCredentials(facilitatorUrl))
    problems.push(
      'payment.facilitatorUrl: takes no user and password; put a key into payment.facilitatorHeaders',
    );
  if (facilitatorUrl !== null && payment.accept.length === 0)
    problems.push('payment.accept: name at least one chain and payTo, or leave payment.facilitatorUrl out');
  const accept = payment.accept.map((entry, index) =>
    resolveAccept(entry, `payment.accept.${index}`, chains, problems),
  );
  const seen = new Set<string>();
  for (const { chain, token } of accept) {
    const what = `${chain} ${token.address}`;
    if (seen.has(what)) problems.push(`payment.accept: ${what} is named twice`);
    seen.add(what);
  }
  return { ...payment, accept };
}

function resolveAccept(
  entry: FileConfig['payment']['accept'][number],
  at: string,
  chains: readonly ChainConfig[],
  problems: string[],
): AcceptedPayment {
  const facts = knownChain(entry.chain) ?? unknownChain(entry.chain, `${at}.chain`, problems);
  const chain = chainOf(facts.chainId);
  const configured = chains.find((one) => one.chain === chain);
  const token = resolveToken(entry.asset, configured?.tokens ?? facts.tokens, `${at}.asset`, problems);
  // Prices are dollars: only a token of a dollar each, with decimals that can spell the smallest price, can carry them.
  if (token.decimals < USD_DECIMALS)
    problems.push(`${at}.asset: a token with fewer than ${USD_DECIMALS} decimals cannot carry our prices`);
  return {
    chain,
    slug: facts.slug,
    token,
    payTo: resolveAddress(entry.payTo, `${at}.payTo`, problems),
    rpcUrls: configured?.rpcUrls ?? [],
  };
}

function resolveToken(
  asset: string | undefined,
  tokens: readonly TokenFacts[],
  at: string,
  problems: string[],
): TokenFacts {
  const wanted = asset === undefined ? undefined : resolveAddress(asset, at, problems);
  const token = wanted === undefined ? tokens[0] : tokens.find(({ address }) => address === wanted);
  if (token !== undefined) return token;
  problems.push(
    `${at}: not a token we know on that chain; known: ${tokens.map((one) => one.address).join(', ')}`,
  );
  return tokens[0] as TokenFacts; // never used: the problem above ends the load
}

/** A key set that anybody on the way could replace would let anybody in. */
export function checkOauth({ issuer, jwksUrl }: FileConfig['oauth'], problems: string[]): void {
  for (const [key, url] of Object.entries({ issuer, jwksUrl })) {
    if (url === null || isTrustworthyUrl(url)) continue;
    problems.push(`oauth.${key}: must be an https URL (http only on loopback)`);
  }
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** https, or http that does not leave this machine. */
export /** `fetch` refuses such a URL at every call, which would look like a facilitator that is down. */
function hasCredentials(text: string): boolean {
  return URL.canParse(text) && (new URL(text).username !== '' || new URL(text).password !== '');
}

/** https, or http that does not leave this machine. */
export function isTrustworthyUrl(text: string): boolean {
  if (!isHttpUrl(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
}
