import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiProblem } from '../../../console/api.ts';
import { type Entry, identityEntries } from '../../../console/palette/entries.ts';
import { chooseByHash, findNames, nameWallet } from '../../../console/palette/names.ts';
import { noteOpened, recentEntries } from '../../../console/palette/recent.ts';
import { type ConsoleApi, type Scripted, startConsoleApi } from '../../kit/console-api.ts';
import { ON_SOLANA } from '../../kit/rows.ts';
import { stubStorage } from '../../kit/web-storage.ts';
import { wireAddress, wireChannel } from '../../kit/wire-settlements.ts';

const WALLET = wireAddress(0xab);
const { signature: SIGNATURE } = ON_SOLANA;
const BUSY: Scripted = {
  status: 503,
  type: 'application/problem+json',
  body: { title: 'Busy', status: 503, code: 'overloaded', detail: 'Busy.', retry_after: 1 },
};

/** By the first segments of the path; what the entries read of each answer. */
let answers: Record<string, Scripted>;
let api: ConsoleApi;
let problems: unknown[];

beforeEach(async () => {
  problems = [];
  answers = {
    '/merchants': {
      body: {
        merchants: [{ wallet: WALLET, name: 'Weather desk', name_source: 'agent_card', value: 1284.03 }],
      },
    },
    '/leaderboard': {
      body: {
        leaderboard: [
          { facilitator: 'a/b', name: 'Weather relays' },
          { facilitator: 'c', name: 'Other' },
        ],
      },
    },
    '/agents': {
      body: {
        agents: [
          { agent_id: '7', chain: 'eip155:8453', name: 'Weather desk', wallet: WALLET },
          { agent_id: '8', chain: 'eip155:137', name: null, wallet: null },
        ],
      },
    },
    '/endpoints': { body: { endpoints: [{ resource: 'https://weather.example/v1', service_name: null }] } },
    '/capabilities': { body: { capabilities: [{ slug: 'weather', name: 'Weather' }] } },
    '/entities': { body: { name: null, name_source: null } },
  };
  stubStorage();
  api = await startConsoleApi(({ path }) => answers[/^\/\w+/.exec(path)?.[0] ?? ''] ?? { body: {} });
});
afterEach(() => api.close());

const find = (text: string): Promise<readonly Entry[]> =>
  findNames(text, new AbortController().signal, (problem) => problems.push(problem));

describe('names that the API finds', () => {
  it('each say whose they are and where they are from, and lead to their page', async () => {
    expect(
      (await find('weather')).map(({ kind, title, detail, href }) => [kind, title, detail, href]),
    ).toEqual([
      [
        'merchant',
        'Weather desk',
        'merchant, $1,284.03 in payments, named by its agent card',
        `/console/merchants/${WALLET}`,
      ],
      ['facilitator', 'Weather relays', 'facilitator a/b', '/console/facilitators/a%2Fb'],
      ['agent', 'Agent #8', 'agent #8 on Polygon, named by its card', '/console/agents?q=Agent%20%238'],
      [
        'endpoint',
        'https://weather.example/v1',
        'endpoint',
        '/console/endpoints?q=https%3A%2F%2Fweather.example%2Fv1',
      ],
      ['capability', 'Weather', 'capability', '/console/capabilities/weather'],
    ]);
    expect(problems).toEqual([]);
  });

  it('are found all the same where one list refuses, which is reported', async () => {
    answers['/agents'] = BUSY;
    const found = await find('weather');
    expect(found.map(({ kind }) => kind)).toEqual(['merchant', 'facilitator', 'endpoint', 'capability']);
    const [problem] = problems;
    expect(problem instanceof ApiProblem && problem.retryAfterSeconds).toBe(1);
  });
});

describe('an address that is searched', () => {
  const named = () => nameWallet(identityEntries(WALLET), WALLET, new AbortController().signal);

  it('has the name of its wallet with the source, in both roles', async () => {
    answers['/entities'] = { body: { name: 'Weather desk', name_source: 'endpoint_catalogue' } };
    expect((await named()).map(({ title, detail }) => [title, detail])).toEqual([
      ['Weather desk', '0x0000…00ab, wallet, as merchant, named by a listing of endpoints'],
      ['Weather desk', '0x0000…00ab, wallet, as payer, named by a listing of endpoints'],
    ]);
  });

  it('without a name stays as it is', async () => {
    expect(await named()).toEqual(identityEntries(WALLET));
  });
});

describe('a hash that is searched', () => {
  const HASH = `0x${'c'.repeat(64)}`;
  const chosen = async (): Promise<(string | undefined)[][]> =>
    (await chooseByHash(identityEntries(HASH), HASH, new AbortController().signal)).map(
      ({ kind, detail, href }) => [kind, detail, href],
    );
  const problem = (status: number, code: string): Scripted => ({
    status,
    type: 'application/problem+json',
    body: { title: code, status, code, detail: code },
  });

  it('is the channel of that id, with its parties, where the index has one', async () => {
    const channel = wireChannel({ channel: HASH, payee_name: 'Weather desk' });
    answers['/channels'] = { body: { channel } };
    expect(await chosen()).toEqual([
      ['channel', 'payment channel, 0x0000…0001 to Weather desk, on Base', `/console/channels/${HASH}`],
    ]);
  });

  it('is a transaction where the index has no such channel', async () => {
    answers['/channels'] = problem(404, 'channel_not_found');
    expect(await chosen()).toEqual([['transaction', 'transaction', `/console/transactions/${HASH}`]]);
  });

  it('is a transaction where it is a signature of Solana, and nothing is asked for', async () => {
    answers['/channels'] = BUSY;
    const entries = identityEntries(SIGNATURE);
    expect(await chooseByHash(entries, SIGNATURE, new AbortController().signal)).toEqual(entries);
    expect(entries.map(({ href }) => href)).toEqual([`/console/transactions/${SIGNATURE}`]);
  });

  it('may be either where the API refuses', async () => {
    answers['/channels'] = BUSY;
    await expect(chosen()).rejects.toBeInstanceOf(ApiProblem);
  });
});

describe('what was opened lately', () => {
  const entry = (title: string, kind: Entry['kind'] = 'wallet', href = `/console/${title}`): Entry => ({
    kind,
    title,
    href,
  });
  const titles = (): string[] => recentEntries().map(({ title }) => title);

  it('is the newest five, each once', () => {
    for (const title of ['a', 'b', 'c', 'd', 'e', 'f', 'd']) noteOpened(entry(title));
    expect(titles()).toEqual(['d', 'f', 'e', 'c', 'b']);
  });

  it('has no pages and searches, which the list has anyway', () => {
    noteOpened(entry('home', 'page'));
    noteOpened(entry('all', 'search'));
    expect(titles()).toEqual([]);
  });

  it('leads only to pages of this origin, whatever is in the storage', () => {
    const stored = [
      entry('evil', 'wallet', 'https://evil.example/console'),
      entry('script', 'wallet', 'javascript:alert(1)'),
      entry('near', 'wallet', '/console-of-another'),
      { kind: 'wallet', title: 7, href: '/console/x' },
      entry('ours', 'docs', '/docs/api'),
    ];
    localStorage.setItem('six.opened', JSON.stringify(stored));
    expect(titles()).toEqual(['ours']);
    localStorage.setItem('six.opened', '{');
    expect(titles()).toEqual([]);
  });
});
