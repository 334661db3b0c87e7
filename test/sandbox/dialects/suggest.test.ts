import { describe, expect, test, vi } from 'vitest';
import { DIALECTS } from '../../../sandbox/dialects/dialects.ts';
import { createSuggest, type SuggestDeps } from '../../../sandbox/dialects/suggest.ts';
import type { Guess, Outcome } from '../../../sandbox/dialects/translator.ts';
import type { Accepted, Judgement } from '../../../sandbox/judge/inspect.ts';
import { NO_REWRITES } from '../../../sandbox/judge/rewrites.ts';

/** A suggestion costs nothing, so it is bounded: by the text, by the caller, and by the memory for kept suggestions. */

const ACCEPTED: Accepted = {
  text: 'SELECT 1',
  tables: [],
  functions: [],
  parameters: [],
  warnings: [],
  namedConstants: [],
  walletKeys: [],
  rewrites: NO_REWRITES,
  blockRows: 8_192,
  safeToPlan: true,
};

interface Over extends Partial<Omit<SuggestDeps, 'translator'>> {
  readonly translator?: Partial<SuggestDeps['translator']>;
}

function suggesting({ translator, ...over }: Over = {}) {
  const translate = vi.fn((): Promise<Outcome> => Promise.resolve({ sql: 'SELECT 1' }));
  const likelyFirst = (): Promise<Guess> => Promise.resolve({ dialects: DIALECTS });
  const inspect = vi.fn((): Promise<Judgement> => Promise.resolve({ accepted: ACCEPTED }));
  const deps = {
    translator: { likelyFirst, translate, ...translator },
    inspect,
    checkTypes: () => Promise.resolve(true),
    ...over,
  };
  const suggest = createSuggest(deps);
  const ask = (text: string, caller = 'one') => suggest({ text, parameters: {}, caller });
  return { ask, translate, inspect };
}

describe('a suggestion', () => {
  test('is the first translation that is accepted and whose types fit', async () => {
    const { ask } = suggesting();
    expect(await ask('SELECT 1::int')).toBe('SELECT 1');
  });

  test('is none where every translation is refused, does not fit its types, or is the text itself', async () => {
    const refused = suggesting({
      inspect: () => Promise.resolve({ refused: { code: 'unknown_table', detail: 'There is none.' } }),
    });
    expect(await refused.ask('SELECT 2::int')).toBeNull();
    expect(await suggesting({ checkTypes: () => Promise.resolve(false) }).ask('SELECT 3::int')).toBeNull();
    const same = suggesting();
    expect(await same.ask('select  1;')).toBeNull();
    expect(same.inspect).not.toHaveBeenCalled();
  });

  test('is remembered, and so is that there is none', async () => {
    const { ask, translate } = suggesting();
    await ask('SELECT 1::int');
    expect(await ask('SELECT 1::int', 'another')).toBe('SELECT 1');
    expect(translate).toHaveBeenCalledTimes(1);
  });

  test.each([
    ['is too long', `SELECT '${'x'.repeat(20_000)}'`],
    ['has a placeholder of ClickHouse', 'SELECT {id:String}::text'],
  ])('is not looked for where the text %s', async (_why, text) => {
    const { ask, translate } = suggesting();
    expect(await ask(text)).toBeNull();
    expect(translate).not.toHaveBeenCalled();
  });

  test('is looked for once at a time for each caller', async () => {
    const waits = deferred();
    const translate = vi.fn(() => waits.promise);
    const { ask } = suggesting({ translator: { translate } });
    const first = ask('SELECT 1::int');
    const same = ask('SELECT 1::int');
    expect(await ask('SELECT 2::int')).toBeNull();
    const other = ask('SELECT 3::int', 'another');
    waits.resolve({ sql: 'SELECT 1' });
    expect([await first, await same, await other]).toEqual(['SELECT 1', 'SELECT 1', 'SELECT 1']);
    expect(translate).toHaveBeenCalledTimes(2);
  });

  test('is not looked for a while for a caller whose texts end the thread again and again', async () => {
    let now = 0;
    const translate = vi.fn((): Promise<Outcome> => Promise.resolve({ failed: 'ended' }));
    const { ask } = suggesting({ translator: { translate }, nowMs: () => now });
    for (const text of ['a', 'b', 'c', 'd', 'e']) expect(await ask(text)).toBeNull();
    expect(translate).toHaveBeenCalledTimes(3);
    await ask('f', 'another');
    expect(translate).toHaveBeenCalledTimes(4);
    now = 60_000;
    await ask('g');
    expect(translate).toHaveBeenCalledTimes(5);
  });

  test('never rejects', async () => {
    const { ask } = suggesting({ inspect: () => Promise.reject(new Error('the engine is away')) });
    expect(await ask('SELECT 1::int')).toBeNull();
  });
});

function deferred() {
  let resolve: (outcome: Outcome) => void = () => undefined;
  const promise = new Promise<Outcome>((done) => {
    resolve = done;
  });
  return { promise, resolve: (outcome: Outcome) => resolve(outcome) };
}
