import { isAddress, readAddress } from '../../core/domain/address.ts';
import { type Chain, isChain } from '../../core/domain/chain.ts';
import type { UptoSigner } from './facilitator.ts';

/**
 * `GET /supported` of a facilitator, read for the scheme `upto` alone: the address of each kind first, then the other signers of
 * its network, with which the same facilitator may settle too. Source: protocol.md 1.5, 1.8.
 */

/** Facilitators relay with some dozens of addresses (protocol.md, appendix A). */
const SIGNERS_MAX = 1_000;

/** Null for an answer that is none. Entries that cannot be read are passed over. */
export function readUptoSigners(answer: unknown): readonly UptoSigner[] | null {
  const { kinds, signers } = fieldsOf(answer);
  if (!Array.isArray(kinds)) return null;
  const found: UptoSigner[] = [];
  for (const kind of kinds) {
    const { x402Version, scheme, network, extra } = fieldsOf(kind);
    if (x402Version !== 2 || scheme !== 'upto' || typeof network !== 'string' || !isChain(network)) continue;
    const own = signersOf(network, fieldsOf(extra)['facilitatorAddress']);
    // Without its address in the kind there is nothing that a payer could sign.
    if (own.length > 0) found.push(...own, ...othersOf(network, fieldsOf(signers)));
    if (found.length > SIGNERS_MAX) return null;
  }
  return found;
}

function othersOf(chain: Chain, signers: Readonly<Record<string, unknown>>): readonly UptoSigner[] {
  return [signers[chain], signers['eip155:*']].flat().flatMap((address) => signersOf(chain, address));
}

function signersOf(chain: Chain, raw: unknown): readonly UptoSigner[] {
  const address = typeof raw === 'string' ? readAddress(raw) : 'malformed';
  return isAddress(address) ? [{ chain, address }] : [];
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}; // JSON; fields are checked one by one
}
