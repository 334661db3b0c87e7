import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** IP addresses from sockets and headers. An IPv4-mapped IPv6 address counts as the IPv4 address. */
export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

export interface IpNetwork {
  readonly address: IpAddress;
  readonly bits: number;
}

const V4_BITS = 32;
const V6_BITS = 128;
/** Of `::ffff:0:0/96`, in which IPv4 is mapped. */
const MAPPED_BITS = 96;
/** One customer of a provider holds at least a /64, so the other half identifies no one. Source: RFC 6177. */
const CUSTOMER_BITS = 64;

/** Null for anything but an address in standard notation; rejects shortened, octal and hexadecimal IPv4. */
export function parseAddress(text: string): IpAddress | null {
  return isIP(text) === 0 ? null : ipaddr.process(text);
}

/** Reads a network; a single address is a network of one. Null for anything else. */
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

/** The customer behind an address: an IPv4 address, or the /64 of an IPv6 address. Returns the text itself if it is no address. */
export function customerOf(text: string): string {
  // The only form of this address that `isIP` accepts. A fast path: every request comes here.
  if (isIP(text) === 4) return text;
  const address = parseAddress(text);
  if (address === null) return text;
  if (address instanceof ipaddr.IPv4) return address.toString();
  const network = ipaddr.IPv6.networkAddressFromCIDR(
    `${address.toNormalizedString().split('%')[0]}/${CUSTOMER_BITS}`,
  );
  return `${network.toString()}/${CUSTOMER_BITS}`;
}
