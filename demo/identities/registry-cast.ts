import { type Hex, toHex } from 'viem';
import type { Actor, Cast } from '../actors.ts';
import {
  bomb,
  bytes,
  type CardHost,
  endless,
  type HostAnswer,
  json,
  redirect,
  status,
  trickle,
} from './card-host.ts';
import {
  asBase64,
  asPlainData,
  type CardFields,
  type CardPlace,
  cardOf,
  merchantCard,
  onIpfs,
  onWeb,
  PROOF_PATH,
  REGISTRY,
} from './cards.ts';

/**
 * Cards as they are found in the wild: good ones in every spelling, broken ones, and hostile ones. Each publishes its file and
 * answers the URI to register with: null for none, bytes for one that is no text.
 */
export type CardVariant = (place: CardPlace) => string | null | { readonly raw: Hex };

const written = (place: CardPlace, fields: CardFields): string => JSON.stringify(cardOf(place, fields));
const deep = (levels: number): string =>
  `{"name":"Deep","services":${'['.repeat(levels)}${']'.repeat(levels)}}`;
const at = ({ agentId }: CardPlace, ending: string): string => `/agents/${agentId}${ending}`;

const GOOD: Readonly<Record<string, CardVariant>> = {
  https: (place) => onWeb(place, written(place, { name: 'Polite Agent' })),
  base64: (place) => asBase64(written(place, { name: 'Packed Agent' })),
  plain: (place) => asPlainData(written(place, { name: 'Plain Agent', description: '100 % open & honest' })),
  ipfs: (place) => onIpfs(place, written(place, { name: `Pinned Agent ${place.agentId}` })),
  olderEndpoints: (place) => {
    const endpoints = [{ name: 'MCP', endpoint: 'https://older.example/mcp', capabilities: ['web search'] }];
    return onWeb(place, written(place, { name: 'Older Agent', services: undefined, endpoints }));
  },
  lowerCaseSupport: (place) => {
    const spelled = { x402Support: undefined, x402support: true, supportedTrust: undefined };
    return asBase64(written(place, { name: 'Loose Agent', ...spelled, supportedTrusts: 'reputation' }));
  },
  bareServices: (place) =>
    asBase64(written(place, { name: 'Terse Agent', services: ['https://terse.example/a2a'] })),
  servicesMap: (place) =>
    asBase64(written(place, { name: 'Mapped Agent', services: { ENS: 'mapped.eth', email: 'a@b.example' } })),
  inactive: (place) => asBase64(written(place, { name: 'Retired Agent', active: false })),
  noPayments: (place) => asBase64(written(place, { name: 'Free Agent', x402Support: false })),
  asText: (place) => onWeb(place, written(place, { name: 'Texted Agent' }), 'text/plain; charset=utf-8'),
  byteOrderMark: (place) => onWeb(place, `\uFEFF${written(place, { name: 'Marked Agent' })}`),
  redirected: (place) => {
    const there = place.host.publish(
      at(place, '-moved.json'),
      bytes(written(place, { name: 'Moved Agent' })),
    );
    return place.host.publish(at(place, '.json'), redirect(there));
  },
  stranger: (place) => {
    const services = [{ name: 'web', endpoint: `${place.host.otherOrigin}/` }];
    return onWeb(place, written(place, { name: 'Domainless Agent', services }));
  },
  othersRegistration: (place) => {
    const registrations = [
      { agentId: 0, agentRegistry: 'eip155:1:0x8004a169fb4a3325136eb29fa0ceb6d2e539a432' },
    ];
    return asBase64(written(place, { name: 'Borrowed Agent', registrations }));
  },
};

const BROKEN: Readonly<Record<string, CardVariant>> = {
  noUri: () => null,
  emptyUri: () => '',
  emptyFile: (place) => onWeb(place, ''),
  emptyObject: () => 'data:application/json,{}',
  brokenJson: (place) => onWeb(place, '{"name":"Half a card'),
  aList: () => asBase64('["not","a","card"]'),
  aNumber: () => asBase64('42'),
  invalidUtf8: (place) => onWeb(place, Buffer.from('{"name":"\xff\xfe"}', 'latin1')),
  wrongTypes: (place) =>
    asBase64(
      written(place, { name: 7, description: null, services: 'many', image: {}, registrations: 'all' }),
    ),
  brokenBase64: () => 'data:application/json;base64,!!!not*base64!!!',
  webPage: (place) => onWeb(place, '<!doctype html><title>Agent</title>', 'text/html'),
  notFound: ({ host, agentId }) => `${host.origin}/nothing/${agentId}.json`,
  serverError: (place) => place.host.publish(at(place, '.json'), status(500)),
  unknownScheme: () => 'ftp://files.example/agent.json',
  noUriAtAll: () => 'see my website',
  brokenIpfs: () => 'ipfs://not-a-cid',
  lostIpfs: () => 'ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG',
};

const LOOK_ALIKE = 'N\u043erthwind Pay';
const INVISIBLE = 'Pay\u200bload\u0000 \u202egnp.exe\u202c \u2066Agent\u2069';

/** On the host's other name: fetches go one at a time per host, and these must not delay the good files. */
function hostile(place: CardPlace, answer: HostAnswer): string {
  const path = at(place, '.json');
  place.host.publish(path, answer);
  return `${place.host.otherOrigin}${path}`;
}

const HOSTILE: Readonly<Record<string, CardVariant>> = {
  endless: (place) => hostile(place, endless),
  bomb: (place) => hostile(place, bomb),
  slow: (place) => hostile(place, trickle),
  loop: (place) => hostile(place, redirect(at(place, '.json'))),
  toPrivate: (place) => hostile(place, redirect('http://10.0.0.1/admin')),
  toPrivateIpv6: (place) => hostile(place, redirect('http://[::ffff:a00:1]/admin')),
  toDecimal: (place) => hostile(place, redirect('http://167772161/admin')),
  toFile: (place) => hostile(place, redirect('file:///etc/passwd')),
  privateUri: () => 'http://192.168.0.1/card.json',
  deep: (place) => onWeb(place, deep(5_000)),
  wide: (place) => onWeb(place, JSON.stringify({ name: 'Wide', services: Array(50_000).fill(0) })),
  lookAlike: (place) => asBase64(written(place, { name: LOOK_ALIKE, description: 'Trust me.' })),
  invisible: (place) => asBase64(written(place, { name: INVISIBLE, description: '\u001b[31mred\u0007\r\n' })),
  impostor: (place) => asBase64(written(place, { name: 'Northwind Pay' })),
  markup: (place) => {
    const services = [{ name: '<b>web</b>', endpoint: 'javascript:alert(document.cookie)' }];
    const name = '<img src=x onerror=alert(1)>';
    return asBase64(written(place, { name, services, image: 'javascript:alert(1)' }));
  },
  longTexts: (place) =>
    onWeb(place, written(place, { name: 'N'.repeat(10_000), description: 'D\u0301'.repeat(60_000) })),
  prototype: () => asBase64('{"__proto__":{"name":"Polluted","active":false},"constructor":{"x":1}}'),
  rawBytes: () => ({ raw: toHex(Uint8Array.of(0x68, 0x74, 0x74, 0x70, 0x3a, 0xff, 0x00, 0xfe)) }),
};

/** By name, in the order in which the demo's agents register them. */
export const CARD_VARIANTS: readonly (readonly [name: string, variant: CardVariant])[] = [
  ...Object.entries(GOOD),
  ...Object.entries(BROKEN),
  ...Object.entries(HOSTILE),
];

/** An agent of the demo at its registration. */
export interface RegisteredAgent {
  /** Its merchant's name, or its card's variant. */
  readonly label: string;
  readonly agentId: bigint;
  readonly owner: Actor;
  /** Null registers without one. */
  readonly uri: string | null | { readonly raw: Hex };
}

/** All registrations, by id. Merchants come first, then the payers with one card variant each. */
export interface RegistryCast {
  readonly sellers: readonly RegisteredAgent[];
  readonly others: readonly RegisteredAgent[];
}

/** Sellers without an agent. */
const UNREGISTERED_SELLERS = 2;

/**
 * Plans all registrations and publishes their files. Ids are given in the order of the list, because the registry counts
 * from 0 and nothing else registers before. `accounts`: on another chain, by the names of merchants (CAIP-10).
 */
export function registryCast(
  cast: Cast,
  host: CardHost,
  accounts: ReadonlyMap<string, string> = new Map(),
): RegistryCast {
  const sellers = cast.merchants.slice(0, -UNREGISTERED_SELLERS).map((merchant, index): RegisteredAgent => {
    const place = { host, agentId: BigInt(index) };
    const file = JSON.stringify(merchantCard(place, merchant, accounts.get(merchant.name)));
    return { label: merchant.name, agentId: place.agentId, owner: merchant, uri: kept(place, file, index) };
  });
  const others = CARD_VARIANTS.map(([label, variant], index): RegisteredAgent => {
    const agentId = BigInt(sellers.length + index);
    const owner = cast.agents[index % cast.agents.length];
    if (owner === undefined) throw new Error('the cast has no agents');
    return { label, agentId, owner, uri: variant({ host, agentId }) };
  });
  proveDomain(host, sellers);
  return { sellers, others };
}

/** Alternates between the ways of storing a card. */
function kept(place: CardPlace, file: string, index: number): string {
  const ways = [
    () => onWeb(place, file),
    () => asBase64(file),
    () => onIpfs(place, file),
    () => asPlainData(file),
  ];
  return (ways[index % ways.length] ?? ways[0])?.() ?? '';
}

/** The domain proof: the host vouches for the sellers under its first name, and for no agent under its other one. */
function proveDomain(host: CardHost, sellers: readonly RegisteredAgent[]): void {
  const registrations = sellers.map(({ agentId }) => ({ agentId: Number(agentId), agentRegistry: REGISTRY }));
  host.publish(PROOF_PATH, (response, url) =>
    json({ registrations: url.origin === host.origin ? registrations : [] })(response, url),
  );
}
