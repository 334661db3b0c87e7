import { createHash } from 'node:crypto';
import type { Merchant } from '../actors.ts';
import { DEMO_CHAIN_ID } from '../chain/anvil.ts';
import { TESTNET_REGISTRIES } from '../chain/registries.ts';
import { bytes, type CardHost } from './card-host.ts';
import { offerOf } from './offers.ts';

/** CIDv1 in base32 of raw bytes by their sha2-256 (multiformats): what `ipfs add --cid-version=1 --raw-leaves` names a small file. */
export function cidOf(bytes: string | Uint8Array): string {
  const digest = createHash('sha256').update(bytes).digest();
  return `b${base32(Buffer.concat([Buffer.from([0x01, 0x55, 0x12, digest.length]), digest]))}`;
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const BITS_PER_CHAR = 5;

/** RFC 4648 base32, lower case, without padding. */
function base32(bytes: Uint8Array): string {
  let text = '';
  let value = 0;
  let bits = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    for (bits += 8; bits >= BITS_PER_CHAR; bits -= BITS_PER_CHAR)
      text += ALPHABET[(value >> (bits - BITS_PER_CHAR)) & 31];
    value &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + (ALPHABET[(value << (BITS_PER_CHAR - bits)) & 31] ?? '');
}

/** Registration files (ERC-8004) and the ways in which a URI names one. */

export const REGISTRY = `eip155:${DEMO_CHAIN_ID}:${TESTNET_REGISTRIES.identity}`;
/** Where a domain proves which agents are its own. */
export const PROOF_PATH = '/.well-known/agent-registration.json';

/** Whose card it is, and where it is kept. */
export interface CardPlace {
  readonly host: CardHost;
  readonly agentId: bigint;
}

export type CardFields = Readonly<Record<string, unknown>>;

/** A whole card; `fields` come over its defaults, undefined leaves one out. */
export function cardOf(place: CardPlace, fields: CardFields): CardFields {
  return {
    type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1',
    name: `Agent ${place.agentId}`,
    description: 'An agent of the demo.',
    image: 'https://pictures.example/agent.png',
    services: [{ name: 'web', endpoint: `${place.host.origin}/` }],
    x402Support: true,
    active: true,
    registrations: [{ agentId: Number(place.agentId), agentRegistry: REGISTRY }],
    supportedTrust: ['reputation'],
    ...fields,
  };
}

/** The card of a merchant's agent: the services, tools and skills behind its offers, and an account on another chain. */
export function merchantCard(place: CardPlace, merchant: Merchant, account?: string): CardFields {
  const { title, description, tags, skill, paths } = offerOf(merchant);
  const tools = paths.map((path) => path.replaceAll(/\W+/g, '_').replace(/^_/, ''));
  return cardOf(place, {
    name: title,
    description,
    image: `https://${merchant.name}.example/logo.png`,
    services: [
      { name: 'web', endpoint: `${place.host.origin}/shops/${merchant.name}` },
      { name: 'A2A', endpoint: `${merchant.resource}/agent-card.json`, version: '0.3.0', skills: tags },
      { name: 'MCP', endpoint: `${merchant.resource}/mcp`, version: '2025-06-18', tools },
      { name: 'OASF', endpoint: '', version: '0.8.0', skills: [skill], domains: ['technology'] },
      ...(account === undefined ? [] : [{ name: 'agentWallet', endpoint: account }]),
    ],
    supportedTrust: ['reputation', 'crypto-economic'],
  });
}

/** Puts a file on the host and names it by URL. */
export function onWeb({ host, agentId }: CardPlace, file: string | Uint8Array, type?: string): string {
  return host.publish(`/agents/${agentId}.json`, bytes(file, type));
}

/** Puts a file on the host's IPFS gateway and names it by content. */
export function onIpfs({ host }: CardPlace, file: string): string {
  const cid = cidOf(file);
  host.publish(`/ipfs/${cid}`, bytes(file));
  return `ipfs://${cid}`;
}

export function asBase64(file: string | Uint8Array): string {
  return `data:application/json;base64,${Buffer.from(file).toString('base64')}`;
}

/** Percent-encoded, as `encodeURIComponent` does. */
export function asPlainData(file: string): string {
  return `data:application/json,${encodeURIComponent(file)}`;
}
