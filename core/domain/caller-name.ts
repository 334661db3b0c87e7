/**
 * Names of callers, for fair turns and for penalties: an organization by its id, everybody else by the address that the call came from,
 * because keys and wallets without an organization behind them can be made at will.
 */

const ORGANIZATION = 'org:';
const ADDRESS = 'ip:';

export function organizationName(id: string): string {
  return `${ORGANIZATION}${id}`;
}

/** `address` as quotas count it: an IPv4 address, or the /64 of an IPv6 one. */
export function addressName(address: string): string {
  return `${ADDRESS}${address}`;
}

export function isOrganizationName(name: string): boolean {
  return name.startsWith(ORGANIZATION);
}

/** The same for all addresses that one customer of a network gets for the asking: an IPv4 /24, an IPv6 /48. */
export function rangeName(name: string): string {
  if (!name.startsWith(ADDRESS)) return name;
  const address = name.slice(ADDRESS.length);
  const octets = /^(\d+\.\d+\.\d+)\.\d+$/.exec(address)?.[1];
  if (octets !== undefined) return `${ADDRESS}${octets}.0/24`;
  if (!address.includes(':')) return name;
  return `${ADDRESS}${address
    .replace(/::\/64$/, '')
    .split(':')
    .slice(0, 3)
    .join(':')}::/48`;
}
