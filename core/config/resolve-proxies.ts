import { parseNetwork } from '../ip-address.ts';
import type { TrustedProxies } from './config.ts';

/**
 * Checks `http.trustProxy`. What believes every address, or the whole of X-Forwarded-For, lets a caller choose the address that its
 * requests count for, and is refused. Adds what is wrong to `problems`.
 */
export function resolveProxies(
  value: boolean | number | readonly string[],
  problems: string[],
): TrustedProxies {
  if (value === true) {
    problems.push(
      'http.trustProxy (TRUST_PROXY): true would believe whatever a caller writes into X-Forwarded-For; give the number of proxies in front of this process, such as 1, or a list of their addresses and networks, such as ["10.0.0.0/8"]',
    );
    return false;
  }
  if (typeof value !== 'object') return value;
  for (const [index, text] of value.entries()) {
    const network = parseNetwork(text);
    const at = `http.trustProxy.${index} (TRUST_PROXY)`;
    if (network === null)
      problems.push(
        `${at}: must be an address or a network such as 10.0.0.0/8 or fd00::/8, not ${JSON.stringify(text)}`,
      );
    else if (network.bits === 0)
      problems.push(
        `${at}: ${text} is every address, and every caller could write X-Forwarded-For; name the proxies`,
      );
  }
  return value;
}
