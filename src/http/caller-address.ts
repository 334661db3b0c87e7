import type { FastifyRequest } from 'fastify';
import type { TrustedProxies } from '../../core/config/config.ts';
import { isWithin, parseAddress, parseNetwork } from '../../core/ip-address.ts';

/** The network address that a request counts for. */

/** Whether the address that is `hop` steps from this process is a proxy of ours; Fastify asks so about X-Forwarded-*. */
export type TrustsProxy = (address: string | undefined, hop: number) => boolean;

export function proxyTrust(proxies: TrustedProxies): false | TrustsProxy {
  if (proxies === false) return false;
  if (typeof proxies === 'number') return (_address, hop) => hop < proxies;
  // Checked when the configuration was read.
  const networks = proxies.flatMap((text) => parseNetwork(text) ?? []);
  return (text) => {
    const address = text === undefined ? null : parseAddress(text);
    return address !== null && networks.some((network) => isWithin(address, network));
  };
}

/**
 * The farthest address that the proxies in front name: from the connection on, as far as each next entry of X-Forwarded-For was
 * written by a proxy of ours. An entry that is no address is discarded, with everything before it in the header: nobody known
 * vouches for that.
 */
export function callerAddress({ ip, ips }: Pick<FastifyRequest, 'ip' | 'ips'>): string {
  const [connected = ip, ...forwarded] = ips ?? [];
  let address = connected;
  for (const entry of forwarded) {
    const text = withoutPort(entry);
    if (parseAddress(text) === null) break;
    address = text;
  }
  return address;
}

/** Some proxies write `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const [, v6, v4] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(entry) ?? [];
  return v6 ?? v4 ?? entry;
}
