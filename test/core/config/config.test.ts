import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig, unusedRpcUrls } from '../../../core/config/load.ts';
import { UserError } from '../../../core/user-error.ts';

function load(file: unknown, env: Record<string, string> = {}) {
  const path = join(mkdtempSync(join(tmpdir(), 'config-')), 'settlement-index.config.json');
  writeFileSync(path, typeof file === 'string' ? file : JSON.stringify(file));
  return loadConfig({ file: path, env });
}

function problemsOf(file: unknown, env: Record<string, string> = {}): readonly string[] {
  try {
    load(file, env);
  } catch (error) {
    if (error instanceof UserError) return error.problems;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

test('without a file the service indexes Base through its public RPC with an embedded engine', () => {
  const config = loadConfig({ env: {} });
  expect(config.role).toBe('all');
  expect(config.clickhouse.url).toBeNull();
  expect(config.chains.map(({ chain, rpcUrls }) => [chain, rpcUrls])).toEqual([
    ['eip155:8453', ['https://mainnet.base.org']],
  ]);
});

test('the environment overrides the file, chain by chain', () => {
  const config = load(
    { chains: [{ chain: 'base' }, { chain: 'eip155:137' }], http: { port: 1 } },
    { PORT: '9', RPC_URL_137: 'http://a/1, http://b/2' },
  );
  expect(config.http.port).toBe(9);
  expect(config.chains[1]?.rpcUrls).toEqual(['http://a/1', 'http://b/2']);
});

test('every problem is named at once, with the key', () => {
  const problems = problemsOf({ role: 'apo', http: { port: 'x' } });
  expect(problems.some((problem) => problem.startsWith('role (ROLE):'))).toBe(true);
  expect(problems.some((problem) => problem.startsWith('http.port (PORT):'))).toBe(true);
});

test.each([
  [{ ROLE: 'foo' }, 'role (ROLE): must be one of "all", "api", "ingest", "rollup", not "foo"'],
  [{ PORT: '99999' }, 'http.port (PORT): Expected integer to be less or equal to 65535, not 99999'],
  [{ CLICKHOUSE_USER: 'x' }, 'clickhouse.writer.password (CLICKHOUSE_PASSWORD): Expected required property'],
])('the error of a value that is not allowed names its variable and the allowed values: %o', (env, said) => {
  expect(problemsOf({}, env)).toContain(said);
});

test('a password in a union is not echoed', () => {
  expect(problemsOf({ clickhouse: { writer: { user: 'x', password: 7 } } }).join()).not.toContain('7');
});

test('an unknown key is refused, not ignored', () => {
  expect(problemsOf({ chain: ['base'] }).join()).toContain('chain');
});

test('only Solana can be read by fee payers: at their pace, and without a Portal, which gives whole blocks', () => {
  const read = (chain: object) => load({ chains: [chain], portal: { url: 'http://portal.example' } });
  const solana = { chain: 'solana', completeness: 'fee-payers', portalDataset: 'solana-mainnet' };
  expect(read(solana).chains[0]).toMatchObject({ portal: null, pollMs: 30_000, logWindowMax: 50_000 });
  expect(problemsOf({ chains: [{ chain: 'base', completeness: 'fee-payers' }] })).toEqual([
    'chains.0.completeness: fee-payers is for Solana; eip155:8453 has every-block or settlement-blocks',
  ]);
});

test('an unknown chain lists the known ones', () => {
  expect(problemsOf({ chains: [{ chain: 'bse' }] })[0]).toMatch(/unknown chain "bse".*base \(eip155:8453\)/);
});

test('an EVM chain that is not built in needs its nodes, tokens and finality, and is then a chain like any other', () => {
  expect(problemsOf({ chains: [{ chain: 'eip155:100' }] })).toEqual([
    expect.stringContaining('eip155:100 is not built in and needs rpcUrls, tokens, finalityDepth'),
  ]);
  const token = { address: '0x00000000000000000000000000000000000000aa', symbol: 'EURe', decimals: 18 };
  const entry = { chain: 'eip155:100', name: 'Gnosis', rpcUrls: ['http://a/1'], finalityDepth: 20 };
  const rate = { usd: '1.0842', source: 'ECB, 2026-11-27' };
  const [chain] = load({
    chains: [{ ...entry, tokens: [{ ...token, currency: 'EUR', usdRate: rate }] }],
  }).chains;
  expect(chain).toMatchObject({ chain: 'eip155:100', finalityDepth: 20, explorerUrl: null, portal: null });
  expect(chain?.facts).toMatchObject({ name: 'Gnosis', v1Name: null });
  expect(chain?.tokens).toMatchObject([{ symbol: 'EURe', currency: 'EUR', usdRate: rate }]);
  expect(problemsOf({ chains: [{ ...entry, tokens: [{ ...token, usdRate: rate }] }] })).toEqual([
    expect.stringContaining('usdRate: a token of dollars has none'),
  ]);
});

test('a configured address with a wrong checksum is refused', () => {
  const payees = [{ chain: 'base', address: '0x833589fcd6eDb6E08f4c7C32D4f71b54bdA02913' }];
  expect(problemsOf({ catalogue: { payees } })[0]).toContain('checksum');
});

test('the catalogue takes accounts as each chain writes them', () => {
  const base58 = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
  const entry = { chain: 'solana-devnet', address: base58 };
  const relayer = { ...entry, firstSeen: '2026-01-01' };
  const catalogue = { facilitators: [{ id: 'own', relayers: [relayer] }], payees: [entry] };
  expect(load({ catalogue }).catalogue).toMatchObject({
    facilitators: [{ relayers: [{ address: base58 }] }],
    payees: [{ address: base58 }],
  });
  const elsewhere = problemsOf({ catalogue: { payees: [{ ...entry, chain: 'base' }] } });
  expect(elsewhere[0]).toContain('catalogue.payees.0.address: not an address');
});

test('the api role without an engine URL is refused with the reason', () => {
  expect(problemsOf({ role: 'api' })[0]).toContain('clickhouse.url');
});

test('a broken RPC URL is refused without repeating the key inside it', () => {
  const [problem] = problemsOf({
    chains: [{ chain: 'base', rpcUrls: ['ftp://provider.example/secret-key'] }],
  });
  expect(problem).toContain('rpcUrls');
  expect(problem).not.toContain('secret-key');
});

test('strangers’ files are fetched from public hosts alone unless the configuration says otherwise', () => {
  const { identities } = loadConfig({ env: {} });
  expect(identities).toMatchObject({ fetch: true, allowPrivateHosts: false, allowHttp: false, ports: [] });
  const [problem] = problemsOf({ identities: { ipfsGateways: ['ipfs.example/secret'] } });
  expect(problem).toContain('identities.ipfsGateways');
  expect(problem).not.toContain('secret');
});

test('a file that is not JSON says so', () => {
  expect(problemsOf('{')[0]).toContain('is not JSON');
});

test('a named file that does not exist is an error, not a default', () => {
  expect(() => loadConfig({ file: '/nowhere/settlement-index.config.json', env: {} })).toThrow(
    'there is no file',
  );
});

test('a catalogue file is checked with the configuration, and the URL of a facilitator is never echoed', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'config-')), 'catalogue.json');
  writeFileSync(file, JSON.stringify({ payees: [{ chain: 'bse', address: '0x1' }] }));
  const [first, second] = problemsOf({ catalogue: { file } });
  expect(first).toContain('payees.0.chain: unknown chain "bse"');
  expect(second).toContain('payees.0.address');
  expect(problemsOf({ catalogue: { file: '/nowhere/catalogue.json' } })[0]).toContain('cannot be read');
  for (const url of ['ftp://me:secret@facilitator.example', 7])
    expect(problemsOf({ catalogue: { facilitators: [{ id: 'a', url }] } }).join()).toMatch(
      /url(?!.*(secret|7))/,
    );
});

test('a facilitator URL with a password is refused without printing it', () => {
  const [problem = ''] = problemsOf({
    payment: {
      facilitatorUrl: 'https://me:hush@facilitator.example',
      accept: [{ chain: 'base', payTo: `0x${'11'.repeat(20)}` }],
    },
  });
  expect(problem).toContain('payment.facilitatorHeaders');
  expect(problem).not.toContain('hush');
});

test('payments need a payee and a token that can carry the prices, each once', () => {
  const payTo = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';
  const facilitatorUrl = 'https://facilitator.example';
  const problems = (payment: object) => problemsOf({ payment: { facilitatorUrl, ...payment } }).join('\n');
  expect(problems({})).toContain('name at least one chain and payTo');
  expect(problems({ accept: [{ chain: 'bse', payTo }] })).toContain('payment.accept.0.chain: unknown chain');
  expect(problems({ accept: [{ chain: 'base', payTo: payTo.replace('B', 'b') }] })).toContain('checksum');
  expect(problems({ accept: [{ chain: 'base', payTo, asset: payTo }] })).toContain(
    'not a dollar token that we know on that chain',
  );
  const twice = { chain: 'base', payTo };
  expect(problems({ accept: [twice, twice] })).toContain('named twice');
  expect(load({ payment: { facilitatorUrl, accept: [twice] } }).payment.accept).toMatchObject([
    { chain: 'eip155:8453', payTo: payTo.toLowerCase(), rpcUrls: ['https://mainnet.base.org'] },
  ]);
});

test('an issuer of tokens that anybody on the way could impersonate is refused', () => {
  expect(problemsOf({ oauth: { issuer: 'http://issuer.example' } })[0]).toContain('oauth.issuer');
  expect(load({ oauth: { issuer: 'http://127.0.0.1:9' } }).oauth.issuer).toBe('http://127.0.0.1:9');
});

test('what a plan does not say keeps its default', () => {
  const { plans } = load({ plans: { pro: { requestsPerMinute: 7 } } });
  expect(plans.pro).toMatchObject({ requestsPerMinute: 7, monthlyGrantQu: 20_000 });
  expect(problemsOf({ plans: { pro: { requestsPerMinute: 0 } } })[0]).toContain(
    'plans.pro.requestsPerMinute',
  );
  expect(problemsOf({ plans: { gold: {} } })[0]).toContain('gold');
});

test('a chain has the explorer that is built in, another one, or none', () => {
  const chains = [
    { chain: 'base' },
    { chain: 'polygon', explorerUrl: 'http://127.0.0.1:4000/' },
    { chain: 'sonic', explorerUrl: false },
  ];
  expect(load({ chains }).chains.map(({ explorerUrl }) => explorerUrl)).toEqual([
    'https://basescan.org',
    'http://127.0.0.1:4000',
    null,
  ]);
  for (const explorerUrl of ['basescan.org', 'javascript:alert(1)', 'https://basescan.org/tx', 'https://a b'])
    expect(problemsOf({ chains: [{ chain: 'base', explorerUrl }] })).toEqual([
      'chains.0.explorerUrl: must be an http or https URL without a path',
    ]);
});

test('registries are the chain’s own, laid over one by one, and false takes them away', () => {
  const mine = `0x${'ab'.repeat(20)}`;
  const chains = [
    { chain: 'base' },
    { chain: 'base-sepolia', registries: { identity: mine, validation: false } },
    { chain: 'polygon', registries: false },
    { chain: 'sonic', registries: { identity: mine } },
  ];
  expect(load({ chains }).chains.map(({ registries }) => registries)).toEqual([
    {
      identity: '0x8004a169fb4a3325136eb29fa0ceb6d2e539a432',
      reputation: '0x8004baa17c55a88189ae136b182e5fda19de9b63',
      validation: '0x8004cc8439f36fd5f9f049d9ff86523df6daab58',
    },
    { identity: mine, reputation: '0x8004b663056a597dffe9eccc1965a193b7388713' },
    {},
    { identity: mine },
  ]);
});

test('a contract with two roles is refused: its logs could not be attributed', () => {
  const twice = '0x8004baa17c55a88189ae136b182e5fda19de9b63';
  const usdc = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913';
  expect(problemsOf({ chains: [{ chain: 'base', registries: { identity: twice } }] })).toEqual([
    `chains.0.registries.reputation: ${twice} is a token or another registry as well`,
  ]);
  expect(problemsOf({ chains: [{ chain: 'base', registries: { validation: usdc } }] })[0]).toContain(
    'chains.0.registries.validation',
  );
});

test.each([
  [{ prot: 1 }, 'prot: there is no such setting'],
  [{ http: { prot: 'secret' } }, 'http.prot: there is no such setting; did you mean port?'],
  [
    { chains: [{ chain: 'base', rpcUrl: 'https://node.example/key' }] },
    'chains.0.rpcUrl: there is no such setting; did you mean rpcUrls?',
  ],
  [{ oauth: { issuer: 5 } }, 'oauth.issuer: must be a text or null, not 5'],
  [
    { console: { visitorKey: 'abc' } },
    'console.visitorKey: must be a text like ^six_live_[0-9A-Za-z]{43}$ or null',
  ],
])('%j: %s', (file, problem) => {
  expect(problemsOf(file)).toEqual([problem]);
});

test('RPC URLs of the environment that no chain uses are reported by variable, never by value', () => {
  const env = {
    CHAINS: 'base,polygon',
    RPC_URL_8453: 'https://one.example/secret',
    RPC_URL_10: 'https://two.example/secret',
    RPC_URL_8543: 'https://three.example/secret',
    RPC_URL_137: '',
    RPC_URL_42161_FILE: '/run/secrets/four',
    RPC_URL_X: 'five',
    RPC_URL_SOLANA_DEVNET: 'https://six.example/secret',
  };
  expect(unusedRpcUrls(loadConfig({ env: { CHAINS: env.CHAINS } }), env)).toEqual([
    'RPC_URL_10 is not used: this chain is not configured (CHAINS)',
    'RPC_URL_8543 is not used: no chain that is known here has this id or name',
    'RPC_URL_42161_FILE is not used: this chain is not configured (CHAINS)',
    'RPC_URL_X is not used: no chain that is known here has this id or name',
    'RPC_URL_SOLANA_DEVNET is not used: this chain is not configured (CHAINS)',
  ]);
});

test('Solana is a chain like any other: by its name, with URLs of its own, and mints of a chain of one’s own', () => {
  const [mainnet] = loadConfig({
    env: { CHAINS: 'solana', RPC_URL_SOLANA: 'https://one.example' },
  }).chains;
  expect(mainnet).toMatchObject({
    chain: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    rpcUrls: ['https://one.example'],
    portal: { dataset: 'solana-mainnet' },
  });
  expect(mainnet?.tokens.map(({ symbol, paidBy }) => `${symbol} ${paidBy}`)).toEqual([
    'USDC spl-token',
    'USDT spl-token',
    'USDG token-2022',
    'PYUSD token-2022',
    'CASH token-2022',
    'EURC spl-token',
  ]);
});
