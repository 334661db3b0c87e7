import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Addresses as they come over the network and out of headers. An IPv4 address mapped into IPv6 is the IPv4 address. */
export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

export interface IpNetwork {
  readonly address: IpAddress;
  readonly bits: number;
}

const V4_BITS = 32;
const V6_BITS = 128;
/** Of `::ffff:0:0/96`, in which IPv4 is mapped. */
const MAPPED_BITS = 96;
/** What one customer of a network holds, so the other half of the address says nothing. Source: RFC 6177. */
const CUSTOMER_BITS = 64;

/** Null for anything but an address in its usual spelling: shortened, octal and hexadecimal forms of IPv4 are none. */
export function parseAddress(text: string): IpAddress | null {
  return isIP(text) === 0 ? null : ipaddr.process(text);
}

/** An address alone is a network of one. Null for what is neither. */
export function parseNetwork(text: string): IpNetwork | null {
  const [host = '', length, ...rest] = text.split('/');
  const version = isIP(host);
  const address = parseAddress(host);
  if (address === null || rest.length > 0) return null;
  const bitsMax = version === 4 ? V4_BITS : V6_BITS;
  if (length !== undefined && !/^\d{1,3}$/.test(length)) return null;
  const bits = length === undefined ? bitsMax : Number(length);
  if (bits > bitsMax) return null;
  const isMapped = version === 6 && address.kind() === 'ipv4';
  if (!isMapped) return { address, bits };
  return bits < MAPPED_BITS ? null : { address, bits: bits - MAPPED_BITS };
}

export function isWithin(address: IpAddress, network: IpNetwork): boolean {
  return address.kind() === network.address.kind() && address.match(network.address, network.bits);
}

/** Whom an address stands for: an IPv4 address, or the /64 of an IPv6 address. The text itself where it is no address. */
export function customerOf(text: string): string {
  // The only spelling of this address that `isIP` takes; every request comes here.
  if (isIP(text) === 4) return text;
  const address = parseAddress(text);
  if (address === null) return text;
  if (address instanceof ipaddr.IPv4) return address.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(
    `${address.toNormalizedString().split('%')[0]}/${CUSTOMER_BITS}`,
  );
  return `${network.toString()}/${CUSTOMER_BITS}`;
}
