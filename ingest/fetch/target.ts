import { CANCELLED, lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { FetchFailed } from './document.ts';

/** A permitted URL with its permitted addresses. */
export interface Target {
  readonly url: URL;
  readonly addresses: readonly string[];
  readonly isPermitted: (address: string) => boolean;
}

export interface TargetRules {
  readonly settings: {
    readonly allowPrivateHosts: boolean;
    readonly allowHttp: boolean;
    readonly ports: readonly number[];
  };
  readonly resolve: ResolveHost;
  readonly classify: (address: string) => AddressClass;
}

export interface TargetQuestion {
  readonly rules: TargetRules;
  /** The base directory of the current IPFS gateway; URLs below it count as configured by the operator. */
  readonly gateway: URL | null;
  readonly signal: AbortSignal;
}

const PORTS: ReadonlySet<number> = new Set([80, 443, 8080, 8443]);
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
const ADDRESSES_MAX = 8;

/**
 * Decides whether a URL may be requested, and at which addresses. Resolves its name here, once: the connection goes to the checked
 * addresses. A host with permitted and forbidden addresses is reached at the permitted ones. Throws `FetchFailed`.
 */
export async function permittedTarget(
  asked: URL,
  { rules, gateway, signal }: TargetQuestion,
): Promise<Target> {
  const url = withoutExtras(asked);
  const hostname = hostOf(url);
  if (gateway !== null && url.origin === gateway.origin && url.pathname.startsWith(gateway.pathname)) {
    const addresses = await addressesOf(hostname, resolveOwn, signal);
    return { url, addresses, isPermitted: () => true };
  }
  const { allowPrivateHosts, allowHttp } = rules.settings;
  if (url.protocol === 'http:' && !allowHttp && !allowPrivateHosts)
    throw new FetchFailed('unsupported_scheme');
  const isPermitted = (address: string): boolean => {
    const kind = rules.classify(address);
    if (kind === 'loopback') return allowPrivateHosts;
    return kind === 'public' && isPublicTarget(url, rules);
  };
  const found = await addressesOf(hostname, rules.resolve, signal);
  const addresses = found.filter(isPermitted).slice(0, ADDRESSES_MAX);
  if (addresses.length > 0) return { url, addresses, isPermitted };
  if (!found.some((address) => rules.classify(address) === 'public'))
    throw new FetchFailed('forbidden_address');
  throw new FetchFailed(url.protocol === 'http:' && !allowHttp ? 'unsupported_scheme' : 'forbidden_port');
}

/** Checks the scheme and port of public hosts. */
function isPublicTarget(url: URL, { settings }: TargetRules): boolean {
  const port = url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port);
  const isOpen = PORTS.has(port) || settings.ports.includes(port);
  return isOpen && (url.protocol === 'https:' || settings.allowHttp);
}

/** Refuses schemes that are not HTTP and credentials, which no public file needs; drops the fragment, which is not sent. */
function withoutExtras(asked: URL): URL {
  if (asked.protocol !== 'http:' && asked.protocol !== 'https:') throw new FetchFailed('unsupported_scheme');
  if (asked.username !== '' || asked.password !== '') throw new FetchFailed('malformed_uri');
  const url = new URL(asked);
  url.hash = '';
  // `example.com.` is the same host, but certificates and the rules for `localhost` are written without the dot.
  url.hostname = url.hostname.replace(/\.$/, '');
  return url;
}

/** Without the brackets of an IPv6 literal. The URL parser has made dotted decimals of every spelling of IPv4 by now. */
function hostOf(url: URL): string {
  const { hostname } = url;
  if (hostname === '') throw new FetchFailed('malformed_uri');
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

async function addressesOf(
  hostname: string,
  resolve: ResolveHost,
  signal: AbortSignal,
): Promise<readonly string[]> {
  return isIP(hostname) === 0 ? orAborted(resolve(hostname, signal), signal) : [hostname];
}

/** The operator's host names may be local, so they are resolved by the system resolver. */
const resolveOwn: ResolveHost = async (hostname) => {
  const found = await lookup(hostname, { all: true }).catch((cause: unknown) => {
    throw new FetchFailed('name_not_found', cause);
  });
  return found.map(({ address }) => address);
};

/** Rejects when the signal aborts, even if the resolver ignores it. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = withReject();
  const abort = (): void => reject(new FetchFailed('timeout'));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function withReject(): { promise: Promise<never>; reject: (error: Error) => void } {
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<never>((_resolve, no) => {
    reject = no;
  });
  return { promise, reject };
}

/**
 * The addresses of a host name, in the order in which they are tried. Throws `FetchFailed('name_not_found')`; must settle soon
 * after `signal` aborts.
 */
export type ResolveHost = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

const QUERY_TIMEOUT_MS = 2_000;
const QUERY_TRIES = 2;
const LOOPBACK: readonly string[] = ['127.0.0.1', '::1'];

/**
 * Uses the in-process DNS resolver, not `dns.lookup`: with a slow name server that blocks a thread of the pool that files and
 * compression need, and it reads `/etc/hosts` and search domains, which do not describe public hosts. `localhost` is loopback without
 * a query (RFC 6761).
 */
export const resolveHost: ResolveHost = async (hostname, signal) => {
  if (hostname === 'localhost' || hostname.endsWith('.localhost')) return LOOPBACK;
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const failure = answers.find(
      (answer) => answer.status === 'rejected' && answer.reason?.code !== CANCELLED,
    );
    throw new FetchFailed('name_not_found', failure);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
};

/** `public`: may be asked. `loopback`: only where the configuration allows it. `forbidden`: never. */
export type AddressClass = 'public' | 'loopback' | 'forbidden';

/** The routed part of IPv6; unicast addresses outside of it, as ipaddr.js calls them, are unassigned. */
const GLOBAL_V6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** Addresses that carry an IPv4 address and lead to it: mapped ones, and NAT64, by which networks without IPv4 reach it. */
const CARRIES_V4 = [ipaddr.IPv6.parseCIDR('::ffff:0:0/96'), ipaddr.IPv6.parseCIDR('64:ff9b::/96')] as const;
const V4_BYTES = 4;

/**
 * Classifies an IP address by its bits: a mapped or translated IPv4 address counts as the IPv4 address. Every special range of the IANA
 * registries is forbidden, and so are IPv4-compatible, 6to4, Teredo and private NAT64 addresses, behind which no public host serves
 * files. A text that is no IP address, or has a zone, is forbidden.
 */
export function classifyAddress(text: string): AddressClass {
  const version = isIP(text);
  if (version === 4) return classifyV4(ipaddr.IPv4.parse(text));
  return version === 6 && !text.includes('%') ? classifyV6(parseV6(text)) : 'forbidden';
}

/** The URL parser spells every address in hex groups; ipaddr.js takes `::1.2.3.4` for a mapped address, which it is not. */
function parseV6(text: string): ipaddr.IPv6 {
  return ipaddr.IPv6.parse(new URL(`http://[${text}]/`).hostname.slice(1, -1));
}

function classifyV4(address: ipaddr.IPv4): AddressClass {
  const range = address.range();
  if (range === 'unicast') return 'public';
  return range === 'loopback' ? 'loopback' : 'forbidden';
}

function classifyV6(address: ipaddr.IPv6): AddressClass {
  if (CARRIES_V4.some((range) => address.match(range)))
    return classifyV4(new ipaddr.IPv4(address.toByteArray().slice(-V4_BYTES)));
  const range = address.range();
  if (range === 'loopback') return 'loopback';
  return range === 'unicast' && address.match(GLOBAL_V6) ? 'public' : 'forbidden';
}
