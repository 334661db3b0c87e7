import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ApiProblem,
  account,
  change,
  enterKey,
  forgetKey,
  getJson,
  isLentKey,
  openSession,
  readJson,
  session,
} from '../../console/api.ts';
import { type ConsoleApi, type Scripted, startConsoleApi } from '../kit/console-api.ts';
import { stubStorage } from '../kit/web-storage.ts';

const [OWN, LENT] = ['six_own', 'six_lent'];
const REFUSED: Scripted = {
  status: 401,
  type: 'application/problem+json',
  body: { title: 'Unknown key', status: 401, code: 'invalid_api_key', detail: 'No such key.' },
};
const NO_KEY = session.get();

let api: ConsoleApi;
let answer: (key: string | null) => Scripted;

beforeEach(async () => {
  answer = () => ({ body: { ok: true } });
  stubStorage();
  api = await startConsoleApi(({ key }) => answer(key));
});
afterEach(async () => {
  forgetKey();
  await api.close();
  session.set(NO_KEY);
  account.set(null);
});

const keysSent = (): (string | null)[] => api.asked.map(({ key }) => key);
async function problemOf(asking: Promise<unknown>): Promise<ApiProblem> {
  const problem = await asking.catch((error: unknown) => error);
  if (!(problem instanceof ApiProblem)) throw new Error(`not a problem: ${String(problem)}`);
  return problem;
}

describe('the key of the visitor', () => {
  it('is sent in a header and never in an address', async () => {
    enterKey(OWN, { remember: false });
    await getJson('/flows', { query: { limit: 20 } });
    expect(api.asked).toEqual([{ method: 'GET', path: '/flows?limit=20', key: OWN }]);
  });

  it('goes before the one that the deployment lends, which comes back when it is forgotten', () => {
    openSession(LENT, { isFrame: false });
    expect(session.get()).toMatchObject({ key: LENT, origin: 'visitor' });
    expect(isLentKey()).toBe(true);
    enterKey(OWN, { remember: false });
    expect(session.get()).toMatchObject({ key: OWN, origin: 'entered', remembered: false });
    expect(isLentKey()).toBe(false);
    forgetKey();
    expect(session.get()).toMatchObject({ key: LENT, origin: 'visitor' });
  });

  it('is never used in a frame of another site, which has the one that is lent', async () => {
    enterKey(OWN, { remember: true });
    openSession(LENT, { isFrame: true });
    await getJson('/flows');
    expect(keysSent()).toEqual([LENT]);
    expect(session.get()).toMatchObject({ key: LENT, origin: 'visitor' });
  });

  it('outlives the tab only where the visitor asked for that, and never in two places', () => {
    enterKey(OWN, { remember: true });
    expect([localStorage.getItem('six.key'), sessionStorage.getItem('six.key')]).toEqual([OWN, null]);
    openSession(null, { isFrame: false });
    expect(session.get()).toMatchObject({ key: OWN, remembered: true });
    enterKey(OWN, { remember: false });
    expect([localStorage.getItem('six.key'), sessionStorage.getItem('six.key')]).toEqual([null, OWN]);
    forgetKey();
    expect([localStorage.getItem('six.key'), sessionStorage.getItem('six.key')]).toEqual([null, null]);
    expect(session.get()).toMatchObject({ key: null, origin: 'none' });
  });
});

describe('a key that was revoked', () => {
  beforeEach(() => {
    openSession(LENT, { isFrame: false });
    enterKey(OWN, { remember: false });
    answer = (key) => (key === OWN ? REFUSED : { body: { ok: true } });
  });

  it('does not close the pages that need none: what reads is asked again without it', async () => {
    expect(await getJson('/flows')).toEqual({ ok: true });
    expect(keysSent()).toEqual([OWN, LENT]);
    expect(session.get()).toMatchObject({ key: LENT, origin: 'visitor', isRefused: true });
    await getJson('/flows');
    expect(keysSent()).toEqual([OWN, LENT, LENT]);
  });

  it('does not repeat what changes something under another key', async () => {
    const { body } = await problemOf(change('POST', '/account/keys', { label: 'a' }));
    expect([body.code, keysSent()]).toEqual(['invalid_api_key', [OWN]]);
    expect(session.get().isRefused).toBe(true);
  });

  it('is not asked again without end where the lent key is refused too', async () => {
    answer = () => REFUSED;
    const { body } = await problemOf(getJson('/flows'));
    expect([body.code, keysSent()]).toEqual(['invalid_api_key', [OWN, LENT]]);
  });
});

describe('a request that failed', () => {
  const BUSY = { title: 'Busy', status: 503, code: 'overloaded', detail: 'Busy.' };
  const problem = (fields: object, headers: Record<string, string> = {}): void => {
    answer = () => ({
      status: 503,
      type: 'application/problem+json',
      body: { ...BUSY, ...fields },
      headers,
    });
  };

  it('says in how many seconds it may be sent again, by its body or its header', async () => {
    problem({ retry_after: 3 }, { 'retry-after': '9' });
    expect((await problemOf(getJson('/flows'))).retryAfterSeconds).toBe(3);
    problem({}, { 'retry-after': '9' });
    expect((await problemOf(getJson('/flows'))).retryAfterSeconds).toBe(9);
    problem({});
    expect((await problemOf(getJson('/flows'))).retryAfterSeconds).toBeNull();
  });

  it.each([
    ['a page of a proxy', { status: 502, type: 'text/html', body: '<h1>Bad gateway</h1>' }],
    ['half a problem', { status: 503, type: 'application/problem+json', body: '{"title":' }],
  ])('with %s is unreadable and says with which status', async (_, scripted) => {
    answer = () => scripted;
    const { body } = await problemOf(getJson('/flows'));
    expect([body.code, body.status]).toEqual(['unreadable', scripted.status]);
    expect(body.detail).toContain(String(scripted.status));
  });

  it('without an answer is unreachable, and may be sent again soon', async () => {
    answer = () => ({ body: null, isDropped: true });
    const failed = await problemOf(getJson('/flows'));
    expect([failed.body.code, failed.retryAfterSeconds]).toEqual(['unreachable', 5]);
  });

  it('in the middle of its body is unreachable too, not an empty answer', async () => {
    const broken = new Response(new ReadableStream({ start: (stream) => stream.error(new Error('reset')) }));
    expect((await problemOf(readJson(broken))).body.code).toBe('unreachable');
  });

  it('because the page stopped it is no problem to show', async () => {
    const stopping = new AbortController();
    const asking = getJson('/flows', { signal: stopping.signal });
    stopping.abort();
    await expect(asking).rejects.toMatchObject({ name: 'AbortError' });
  });
});

it('leaves parameters without a value out of an address, and keeps false and 0', async () => {
  await getJson('/flows', { query: { chain: null, before: undefined, limit: 0, flagged: false, q: 'a&b' } });
  expect(api.asked[0]?.path).toBe('/flows?limit=0&flagged=false&q=a%26b');
});
