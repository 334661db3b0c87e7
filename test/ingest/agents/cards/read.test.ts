import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AgentCard } from '../../../../core/domain/agent.ts';
import { readCard } from '../../../../ingest/agents/cards/read.ts';
import { ON_SOLANA, SOLANA, wallet } from '../../../kit/rows.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8');
const read = (value: unknown): ReturnType<typeof readCard> => readCard(bytes(JSON.stringify(value)));

function card(value: unknown): AgentCard {
  const outcome = read(value);
  if (typeof outcome === 'string') throw new Error(outcome);
  return outcome;
}

const REGISTRY = 'eip155:8453:0x8004a169fb4a3325136eb29fa0ceb6d2e539a432';
const EMPTY: AgentCard = {
  name: '',
  description: '',
  image: '',
  services: [],
  x402Support: false,
  active: true,
  supportedTrust: [],
  registrations: [],
};
const PLAIN = { version: '', skills: [], domains: [] };

describe('a registration file', () => {
  test('of the specification is read whole', () => {
    expect(
      card({
        type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1',
        name: 'Weather',
        description: 'Tells it.',
        image: 'https://a.example/i.png',
        services: [
          {
            name: 'OASF',
            endpoint: 'ipfs://x',
            version: '0.8',
            skills: ['analytical_skills/forecast'],
            domains: ['weather'],
          },
          { name: 'web', endpoint: 'https://a.example' },
        ],
        x402Support: true,
        active: false,
        registrations: [{ agentId: 22, agentRegistry: REGISTRY.replace('a169fb4a', 'A169FB4a') }],
        supportedTrust: ['reputation', 'tee-attestation'],
      }),
    ).toEqual({
      name: 'Weather',
      description: 'Tells it.',
      image: 'https://a.example/i.png',
      services: [
        {
          name: 'OASF',
          endpoint: 'ipfs://x',
          version: '0.8',
          skills: ['analytical_skills/forecast'],
          domains: ['weather'],
        },
        { name: 'web', endpoint: 'https://a.example/', ...PLAIN },
      ],
      x402Support: true,
      active: false,
      supportedTrust: ['reputation', 'tee-attestation'],
      registrations: [{ agentId: 22n, registry: REGISTRY }],
    });
  });

  test('names wallets on other chains, in a list or by their names, as CAIP-10 writes them', () => {
    const [solana, base] = [`${SOLANA}:${ON_SOLANA.seller}`, `eip155:8453:${wallet(0xb2)}`];
    const named = [solana, base].map((endpoint) => ({ name: 'agentWallet', endpoint, ...PLAIN }));
    const others = [ON_SOLANA.seller, wallet(0xb2), `${solana}1`, solana.toLowerCase(), 7, null];
    for (const wallets of [[solana, ...others, { account: base }], { solana, base: { address: base } }])
      expect(card({ name: 'A', wallets }).services).toEqual(named);
  });

  test('a URL with a placeholder stays as it was declared', () => {
    const endpoint = 'https://a.example/agents/{agentId}/mcp';
    expect(read({ name: 'A', services: [{ name: 'MCP', endpoint }] })).toMatchObject({
      services: [{ endpoint }],
    });
  });

  test.each([
    [
      {
        endpoints: [
          { name: 'MCP', endpoint: 'https://a.example/mcp', mcpTools: ['search', { name: 'price' }] },
        ],
      },
    ],
    [{ services: [], endpoints: [{ type: 'MCP', url: 'https://a.example/mcp', tools: 'search, price' }] }],
    [{ services: { MCP: { endpoint: 'https://a.example/mcp', skills: { search: {}, price: {} } } } }],
    [
      {
        name: null,
        services: {
          MCP: { uri: 'https://a.example/mcp', skills: ['search', 'search', 7, {}], a2aSkills: 'price' },
        },
      },
    ],
  ])('with services written otherwise: %j', (file) => {
    const [service] = card(file).services;
    expect(service).toMatchObject({ name: 'MCP', endpoint: 'https://a.example/mcp' });
    expect(service?.skills.filter((skill) => skill !== '7')).toEqual(['search', 'price']);
  });

  test('with bare texts for services', () => {
    const web = { name: 'web', endpoint: 'https://a.example/', ...PLAIN };
    expect(card({ services: ['https://a.example'] }).services).toEqual([web]);
    expect(card({ services: 'https://a.example' }).services).toEqual([web]);
    expect(card({ services: { email: 'a@b.example' } }).services).toEqual([
      { name: 'email', endpoint: 'a@b.example', ...PLAIN },
    ]);
  });

  test.each([
    ['x402Support', true, true],
    ['x402support', 'true', true],
    ['x402_support', 1, true],
    ['x402', { enabled: true }, true],
    ['x402Support', 'no', false],
    ['x402Support', 'constructor', false],
    ['x402Support', [], false],
  ])('%s: %j is %s', (field, value, expected) => {
    expect(card({ name: 'a', [field]: value }).x402Support).toBe(expected);
  });

  test('is active unless it says otherwise', () => {
    expect(
      [undefined, null, true, 'x', {}].map((active) => card({ name: 'a', active }).active),
    ).not.toContain(false);
    expect([false, 'false', 0].map((active) => card({ name: 'a', active }).active)).not.toContain(true);
  });

  test('with one text for the kinds of trust, under any of its names', () => {
    for (const field of ['supportedTrust', 'supportedTrusts', 'supported_trust'])
      expect(card({ name: 'a', [field]: 'reputation,tee' }).supportedTrust).toEqual(['reputation', 'tee']);
  });

  test('claims only registrations that name an agent in a registry', () => {
    const entry = { agentId: '0', agentRegistry: REGISTRY };
    expect(card({ registrations: entry }).registrations).toEqual([{ agentId: 0n, registry: REGISTRY }]);
    const huge = 2n ** 256n;
    const agentIds = [null, -1, 1.5, 2 ** 53, '', '0x1', '1e3', String(huge), {}, String(huge - 1n)];
    const registrations = agentIds.map((agentId) => ({ agentId, agentRegistry: REGISTRY }));
    expect(card({ registrations }).registrations).toEqual([{ agentId: huge - 1n, registry: REGISTRY }]);
    expect(
      card({ registrations: [{ agentId: 1, agentRegistry: 'eip155:1' }, null, 'x'] }).registrations,
    ).toEqual([]);
  });

  test.each([
    ['https://a.example/i.svg', 'https://a.example/i.svg'],
    ['http://a.example/i.png', ''],
    ['https://user:pass@a.example/', ''],
    ['javascript:alert(1)', ''],
    ['//a.example/i.png', ''],
    ['data:image/png;base64,AAAA', 'data:image/png;base64,AAAA'],
    ['data:image/svg+xml;base64,AAAA', ''],
    ['data:image/png;base64,AA"onerror="x', ''],
    ['data:text/html,<script>', ''],
    [`data:image/png;base64,${'A'.repeat(5_000)}`, ''],
    [
      'ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG',
      'ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG',
    ],
    ['ipfs://nothing', ''],
    [7, ''],
  ])('with the image %s shows %j', (image, shown) => expect(card({ name: 'a', image }).image).toBe(shown));

  test.each([
    ['javascript:alert(1)', ''],
    ['java\nscript:alert(1)', ''],
    ['java script:alert(1)', 'java script:alert(1)'],
    ['\u0001javascript:alert(1)', ''],
    ['data:text/html,x', ''],
    ['https://раураl.example/', 'https://xn--l-7sba6dbr.example/'],
    ['did:web:a.example', 'did:web:a.example'],
    ['name.eth', 'name.eth'],
    [`https://a.example/${'x'.repeat(1_000)}`, ''],
    [{}, ''],
  ])('with the endpoint %j shows %j', (endpoint, shown) => {
    expect(card({ services: [{ name: 's', endpoint }] }).services[0]?.endpoint).toBe(shown);
  });

  test('has texts that are safe to show', () => {
    const shown = card({
      name: ' \u202eEvil\u0000 pаypal ',
      description: 'a\nb',
      services: [{ name: '\u200bx\u200b' }],
    });
    expect(shown).toMatchObject({
      name: 'Evil p{U+0430}ypal',
      description: 'a b',
      services: [{ name: 'x' }],
    });
  });

  test('is bounded in every text and list', () => {
    const long = 'x'.repeat(10_000);
    const many = Array.from({ length: 100 }, (_, at) => `${at}`);
    const words = many.map((word) => `${word} ${long.slice(0, 200)}`);
    const shown = card({
      name: long,
      description: long,
      services: many
        .slice(0, 60)
        .map((name) => ({ name, endpoint: long, version: long, skills: words, domains: words })),
      supportedTrust: many,
      registrations: many.map((agentId) => ({ agentId, agentRegistry: REGISTRY })),
    });
    expect(
      JSON.stringify(shown, (_, value) => (typeof value === 'bigint' ? `${value}` : value)).length,
    ).toBeLessThan(30_000);
  });

  test('may have a byte order mark, repeated keys and keys of the prototype', () => {
    expect(readCard(bytes('\ufeff{"name":"a"}'))).toEqual({ ...EMPTY, name: 'a' });
    expect(readCard(bytes('{"name":"a","name":"b"}'))).toEqual({ ...EMPTY, name: 'b' });
    expect(readCard(bytes('{"__proto__":{"name":"x","active":false},"description":"d"}'))).toEqual({
      ...EMPTY,
      description: 'd',
    });
    expect(readCard(bytes('{"constructor":{"prototype":{"active":false}},"name":"a"}'))).toEqual({
      ...EMPTY,
      name: 'a',
    });
    expect(
      card({ name: 'a', services: JSON.parse('{"__proto__":"https://a.example"}') }).services,
    ).toHaveLength(1);
  });

  test.each([
    ['', 'not_json'],
    ['<html>', 'not_json'],
    ['{"name":"a"', 'not_json'],
    ["{'name':'a'}", 'not_json'],
    ['[]', 'not_an_object'],
    ['"x"', 'not_an_object'],
    ['null', 'not_an_object'],
    ['{}', 'not_a_card'],
    ['{"error":"not found"}', 'not_a_card'],
    ['{"name":null}', 'not_a_card'],
  ])('is refused as %s: %s', (text, problem) => expect(readCard(bytes(text))).toBe(problem));

  test('that would be a mountain of values is refused before it is parsed', () => {
    const deep = `{"name":"a","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(readCard(bytes(deep)) === 'too_deep').toBe(true);
    expect(readCard(bytes(`{"name":${'{"a":'.repeat(50_000)}`)) === 'too_deep').toBe(true);
    expect(readCard(bytes(`{"name":"a","x":[${'0,'.repeat(100_000)}0]}`)) === 'too_many_values').toBe(true);
    expect(readCard(bytes(`{"x":"${'\\"[{,'.repeat(100_000)}","name":"a"}`))).toMatchObject({ name: 'a' });
  });

  test('that is not UTF-8 is refused', () => {
    for (const bad of ['fe', 'c080', 'eda080', 'f4908080', 'e282'])
      expect(readCard(Buffer.concat([bytes('{"name":"'), Buffer.from(bad, 'hex'), bytes('"}')]))).toBe(
        'not_utf8',
      );
  });

  test('with brackets, quotes and backslashes inside of texts is not taken for a deep one', () => {
    const name = `${'[{'.repeat(50)}\\"\\\\`;
    expect(card({ name, description: ',[{\\"'.repeat(100) }).name).toBe(name.slice(0, 120));
  });

  test('is never thrown at, whatever it holds', () => {
    fc.assert(fc.property(fc.json({ maxDepth: 6 }), (text) => void readCard(bytes(text))));
    const anything = fc.jsonValue({ maxDepth: 3 });
    const fields = [
      'name',
      'description',
      'image',
      'services',
      'endpoints',
      'x402Support',
      'active',
      'supportedTrust',
      'registrations',
    ];
    const files = fc.record(Object.fromEntries(fields.map((field) => [field, anything])), {
      requiredKeys: [],
    });
    fc.assert(fc.property(files, (file) => void read(file)));
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (raw) => void readCard(raw)));
  });
});
