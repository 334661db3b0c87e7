import { CANCELLED, Resolver } from 'node:dns/promises';
import { FetchFailed } from './fetch-failed.ts';

/**
 * The addresses of a host name, in the order in which they are tried. Throws `FetchFailed('name_not_found')`; must settle soon
 * after `signal` aborts.
 */
export type ResolveHost = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>;

const QUERY_TIMEOUT_MS = 2_000;
const QUERY_TRIES = 2;
const LOOPBACK: readonly string[] = ['127.0.0.1', '::1'];

/**
 * Asks the DNS by the resolver inside the process, not `dns.lookup`: that one takes a thread of the pool that files and
 * compression need, for as long as a stranger's name server cares to be slow; and it reads `/etc/hosts` and search domains,
 * which say nothing about strangers. `localhost` is loopback without asking (RFC 6761).
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
