import { h } from 'preact';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiProblem, session } from '../../../console/api.ts';
import { ProblemState } from '../../../console/components/states.tsx';
import { elementsOf, htmlOf, textOf } from '../../kit/drawn.ts';

type Body = ApiProblem['body'];

const BUSY: Body = {
  title: 'The service is busy',
  status: 503,
  code: 'overloaded',
  detail: 'Too many queries.',
};
const NO_KEY = session.get();

function state(
  fields: Partial<Body>,
  { seconds = null, hasRetry = true }: { seconds?: number | null; hasRetry?: boolean } = {},
) {
  const problem = new ApiProblem({ ...BUSY, ...fields }, seconds);
  return htmlOf(h(ProblemState, { problem, ...(hasRetry ? { onRetry: () => undefined } : {}) }));
}

describe('a problem', () => {
  afterEach(() => session.set(NO_KEY));

  it('is told in the words of the API, with its code and request for a report', () => {
    expect(textOf(state({ hint: 'Ask for less.', request_id: 'req_1' }, { hasRetry: false }))).toBe(
      'The service is busy Too many queries. Ask for less. overloaded · request req_1',
    );
    expect(state({})).toContain('role="alert"');
  });

  it('can be tried again at once, or after the seconds that the API asks for', () => {
    const [now = ''] = elementsOf(state({}), '<button');
    expect([textOf(now), now.includes('disabled')]).toEqual(['Try again', false]);
    const [later = ''] = elementsOf(state({}, { seconds: 7 }), '<button');
    expect([textOf(later), later.includes('disabled')]).toEqual(['Try again in 7 s', true]);
  });

  it('that a key solves offers to enter one, and the plans', () => {
    for (const code of ['payment_required', 'api_key_required'] as const) {
      const html = state({ code, status: 402 });
      expect(textOf(html)).toContain('This needs a key');
      expect(textOf(html)).toContain('Enter a key');
      expect(html).toContain('href="/plans"');
    }
  });

  it('of a key that is not known says that, and not that a key is missing', () => {
    const text = textOf(state({ code: 'invalid_api_key', status: 401, detail: 'No such key.' }));
    expect(text).toContain('Unknown key No such key.');
    expect(text).not.toContain('This needs a key');
  });

  it('of spent units leads to more of them', () => {
    expect(state({ code: 'insufficient_qu', status: 402 })).toContain('href="/plans#top-up"');
    expect(state({})).not.toContain('/plans');
  });

  it('of what the shared key may not do asks for a key of one’s own', () => {
    session.set({ ...NO_KEY, key: 'six_lent', origin: 'visitor' });
    expect(textOf(state({ code: 'key_restricted', status: 403 }))).toContain('This needs a key of your own');
    session.set({ ...NO_KEY, key: 'six_own', origin: 'entered' });
    expect(textOf(state({ code: 'key_restricted', status: 403 }))).toContain('Too many queries.');
  });
});
