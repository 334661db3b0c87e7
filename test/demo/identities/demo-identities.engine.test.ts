import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog } from '../../../core/log.ts';
import { castOf } from '../../../demo/actors.ts';
import { createRegistryViews } from '../../../demo/chain/registry-views.ts';
import { publishBazaars, publishWellKnown } from '../../../demo/identities/bazaar.ts';
import {
  bytes,
  type CardHost,
  endless,
  json,
  startCardHost,
  trickle,
} from '../../../demo/identities/card-host.ts';
import { PROOF_PATH } from '../../../demo/identities/cards.ts';
import { createIdentities, playAfter, playBefore } from '../../../demo/identities/identities.ts';
import { listedSellers } from '../../../demo/identities/offers.ts';
import { CARD_VARIANTS, registryCast } from '../../../demo/identities/registry-cast.ts';
import { makeTraffic } from '../../../demo/traffic.ts';
import { startWorld } from '../../../demo/world.ts';
import { CARD_MAX_BYTES, readCard } from '../../../ingest/agents/cards/read.ts';
import { createSafeFetcher } from '../../../ingest/fetch/safe-fetch.ts';

let host: CardHost;

beforeAll(async () => {
  host = await startCardHost();
});
afterAll(() => host?.stop());

const SEED = 5;
/** For whatever answers; the machine may be busy. */
const PATIENCE_MS = 25_000;
/** For what never does. */
const HASTE_MS = 500;

test('the host answers what was published, under both of its names, and nothing else', async () => {
  const url = host.publish('/one.json', json({ one: 1 }));
  expect(await (await fetch(url)).json()).toEqual({ one: 1 });
  host.publish('/one.json', bytes('two', 'text/plain'));
  expect(await (await fetch(`${host.otherOrigin}/one.json?query`)).text()).toBe('two');
  expect((await fetch(`${host.origin}/two.json`)).status).toBe(404);
});

test('a host with answers that never end stops at once', async () => {
  const own = await startCardHost();
  const [slow, huge] = await Promise.all([
    fetch(own.publish('/slow', trickle)),
    fetch(own.publish('/huge', endless)),
  ]);
  expect([slow.status, huge.status]).toEqual([200, 200]);
  const ended = Promise.allSettled([slow.text(), huge.text()]);
  await own.stop();
  expect((await ended).map((one) => one.status)).toEqual(['rejected', 'rejected']);
});

/** Variants that no card can be read from, and why. All others are read. */
const PROBLEMS: Readonly<Record<string, string>> = {
  noUri: 'no uri',
  emptyUri: 'empty_uri',
  emptyFile: 'not_json',
  emptyObject: 'not_a_card',
  brokenJson: 'not_json',
  aList: 'not_an_object',
  aNumber: 'not_an_object',
  invalidUtf8: 'not_utf8',
  brokenBase64: 'malformed_uri',
  webPage: 'not_json',
  notFound: 'refused',
  serverError: 'refused',
  unknownScheme: 'unsupported_scheme',
  noUriAtAll: 'malformed_uri',
  brokenIpfs: 'malformed_uri',
  lostIpfs: 'refused',
  endless: 'too_large',
  bomb: 'too_large',
  slow: 'timeout',
  loop: 'too_many_redirects',
  toPrivate: 'forbidden_address',
  toPrivateIpv6: 'forbidden_address',
  toDecimal: 'forbidden_address',
  toFile: 'unsupported_scheme',
  privateUri: 'forbidden_address',
  deep: 'too_deep',
  wide: 'too_many_values',
  prototype: 'not_a_card',
  rawBytes: 'no uri',
};

test('every card variant reads as it is meant to', async () => {
  const fetcherWithin = (deadlineMs: number) =>
    createSafeFetcher({
      settings: { ipfsGateways: [host.origin], allowPrivateHosts: true, allowHttp: false, ports: [] },
      log: createLog('silent', 'test'),
      deadlineMs,
    });
  const fetchers = { patient: fetcherWithin(PATIENCE_MS), hasty: fetcherWithin(HASTE_MS) };
  const read = async (uri: string, fetcher: keyof typeof fetchers): Promise<string> => {
    const signal = AbortSignal.timeout(2 * PATIENCE_MS);
    const document = await fetchers[fetcher].fetch(uri, { maxBytes: CARD_MAX_BYTES, signal });
    if (!document.ok) return document.problem;
    const card = readCard(document.bytes);
    return typeof card === 'string' ? card : 'read';
  };
  const { others } = registryCast(castOf(SEED), host);
  const outcomes = await Promise.all(
    others.map(async ({ label, uri }) => {
      if (typeof uri !== 'string') return [label, 'no uri'];
      return [label, await read(uri, PROBLEMS[label] === 'timeout' ? 'hasty' : 'patient')];
    }),
  );
  const expected = CARD_VARIANTS.map(([label]) => [label, PROBLEMS[label] ?? 'read']);
  expect(Object.fromEntries(outcomes)).toEqual(Object.fromEntries(expected));
});

test('the host vouches for the sellers under its first name only', async () => {
  const { sellers } = registryCast(castOf(SEED), host);
  const claims = async (origin: string) =>
    ((await (await fetch(`${origin}${PROOF_PATH}`)).json()) as { registrations: object[] }).registrations;
  expect(await claims(host.origin)).toHaveLength(sellers.length);
  expect(await claims(host.otherOrigin)).toEqual([]);
});

interface BazaarPage {
  readonly items: readonly { readonly resource?: string; readonly accepts?: readonly { payTo: string }[] }[];
  readonly pagination: { readonly limit: number; readonly total: number };
}

test('bazaars turn pages to the end, and name no payee that is not catalogued', async () => {
  const cast = castOf(SEED);
  const urls = publishBazaars(host, cast, 1_800_000_000);
  expect(Object.keys(urls)).toEqual(['northwind', 'meridian']);
  const paid = new Set<string>(
    [...cast.agents, ...cast.merchants.filter(({ catalogued }) => !catalogued)].map(({ address }) => address),
  );
  for (const url of Object.values(urls)) {
    const items: BazaarPage['items'][number][] = [];
    for (let total = 1; items.length < total; ) {
      const response = await fetch(`${url}/discovery/resources?type=http&limit=100&offset=${items.length}`);
      const page = (await response.json()) as BazaarPage;
      expect(page.items.length).toBeLessThanOrEqual(page.pagination.limit);
      items.push(...page.items);
      total = page.pagination.total;
    }
    expect(items.length).toBeGreaterThan(25);
    const payees = items.flatMap((item) =>
      Array.isArray(item?.accepts) ? item.accepts.map(({ payTo }) => payTo) : [],
    );
    expect(payees.filter((payTo) => paid.has(payTo))).toEqual([]);
    const sellers = new Set<string>(listedSellers(cast).map(({ address }) => address));
    expect(new Set(payees.filter((payTo) => sellers.has(payTo))).size).toBeGreaterThanOrEqual(10);
    const { signers } = (await (await fetch(`${url}/supported`)).json()) as { signers: object };
    expect(Object.keys(signers)).toEqual(['eip155:*']);
  }
  publishWellKnown(host, cast);
  const wellKnown = (await (await fetch(`${host.origin}/.well-known/x402`)).json()) as {
    resources: object[];
  };
  expect(wellKnown.resources).toHaveLength(2);
});

test('the registry has the agents under the ids that their cards claim, and feedback for real payments', async () => {
  const world = await startWorld({ seed: SEED, genesisTime: Math.floor(Date.now() / 1_000) - 1_000 });
  try {
    const traffic = await makeTraffic(world, { seed: SEED });
    const { story, registered } = createIdentities(world.cast, { seed: SEED, host });
    const stage = { world, traffic, secondsApart: 2 };
    await playBefore(story, stage);
    await traffic.history({ settlements: 60, blocks: 6, secondsApart: 2 });
    await playAfter(story, stage);
    const views = createRegistryViews(world.chain.url);
    const { sellers, others } = registryCast(world.cast, host);
    expect(registered).toBe(sellers.length + others.length);
    for (const { agentId, owner } of sellers) expect((await views.agent(agentId)).owner).toBe(owner.address);
    const sold = others
      .filter(({ label }) => ['plain', 'ipfs'].includes(label))
      .map(({ agentId }) => agentId);
    for (const { agentId, owner } of others)
      expect((await views.agent(agentId)).owner === owner.address, String(agentId)).toBe(
        !sold.includes(agentId),
      );
    await expect(views.agent(BigInt(registered))).rejects.toThrow();
    const feedback = (await Promise.all(sellers.map(({ agentId }) => views.allFeedback(agentId)))).flat();
    expect(feedback.length).toBeGreaterThan(10);
    expect(feedback.some(({ revoked }) => revoked)).toBe(true);
  } finally {
    await world.stop();
  }
});
