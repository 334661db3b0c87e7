import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { AddressClass } from './address-class.ts';
import { FetchFailed } from './fetch-failed.ts';
import type { ResolveHost } from './resolve-host.ts';

/** A URL that may be asked, with the addresses that it may be asked at. */
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
  /** The directory of the IPFS gateway that is being asked; what is below it is the operator's word, not a stranger's. */
  readonly gateway: URL | null;
  readonly signal: AbortSignal;
}

const PORTS: ReadonlySet<number> = new Set([80, 443, 8080, 8443]);
const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
const ADDRESSES_MAX = 8;

/**
 * Decides whether a URL may be asked, and where. Its name is resolved here and once: the connection goes to the addresses that
 * were judged. A host with permitted and forbidden addresses is asked at the permitted ones. Throws `FetchFailed`.
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

/** The scheme and the port that are open to public hosts. */
function isPublicTarget(url: URL, { settings }: TargetRules): boolean {
  const port = url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port);
  const isOpen = PORTS.has(port) || settings.ports.includes(port);
  return isOpen && (url.protocol === 'https:' || settings.allowHttp);
}

/** Refuses schemes that are not HTTP and credentials, which no public file needs; drops what is not sent. */
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

/** The operator's names may be those of his own network: they are resolved as every other program does. */
const resolveOwn: ResolveHost = async (hostname) => {
  const found = await lookup(hostname, { all: true }).catch((cause: unknown) => {
    throw new FetchFailed('name_not_found', cause);
  });
  return found.map(({ address }) => address);
};

/** A resolver that does not heed the signal keeps nobody waiting. */
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
