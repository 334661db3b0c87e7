import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** `public`: strangers may name it. `loopback`: only where the configuration says so. `forbidden`: never, whoever says so. */
export type AddressClass = 'public' | 'loopback' | 'forbidden';

/** All that is routed of IPv6; what ipaddr.js calls unicast outside of it is not assigned to anybody. */
const GLOBAL_V6 = ipaddr.IPv6.parseCIDR('2000::/3');
/** Addresses that carry an IPv4 address and lead to it: mapped ones, and NAT64, by which networks without IPv4 reach it. */
const CARRIES_V4 = [ipaddr.IPv6.parseCIDR('::ffff:0:0/96'), ipaddr.IPv6.parseCIDR('64:ff9b::/96')] as const;
const V4_BYTES = 4;

/**
 * What kind of place an IP address leads to, decided on its bits: a mapped or translated IPv4 address is judged as the IPv4
 * address. Every special range of the IANA registries is forbidden, and so are IPv4-compatible, 6to4, Teredo and private NAT64
 * addresses, behind which nobody serves files. A text that is no IP address, or has a zone, is forbidden.
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
