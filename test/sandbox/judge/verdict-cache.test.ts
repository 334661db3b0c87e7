import { describe, expect, test } from 'vitest';
import { createVerdictCache, type JudgedText, type Judgement } from '../../../sandbox/judge/inspect.ts';
import { NO_REWRITES } from '../../../sandbox/judge/rewrites.ts';

const verdictOf = (text: string): Judgement => ({
  accepted: {
    text,
    tables: [],
    functions: [],
    parameters: [],
    warnings: [],
    rewrites: NO_REWRITES,
    blockRows: 8_192,
    safeToPlan: true,
    namedConstants: [],
    walletKeys: [],
  },
});
const SUBJECT: JudgedText = {
  engineVersion: '26.7',
  policyVersion: 'p1',
  text: 'SELECT 1',
  parameters: { a: '1' },
};

/** A cache, and whether asking it had to ask the engine. */
function watched(limits = { entriesMax: 10, charsMax: 100_000 }) {
  const cache = createVerdictCache(limits);
  return async (wanted: Partial<JudgedText> = {}): Promise<'asked' | 'remembered'> => {
    const subject = { ...SUBJECT, ...wanted };
    let outcome: 'asked' | 'remembered' = 'remembered';
    const verdict = await cache.verdict(subject, () => {
      outcome = 'asked';
      return Promise.resolve(verdictOf(subject.text));
    });
    expect(verdict).toEqual(verdictOf(subject.text));
    return outcome;
  };
}

describe('a verdict', () => {
  test('is not asked for twice', async () => {
    const ask = watched();
    expect(await ask()).toBe('asked');
    expect(await ask()).toBe('remembered');
    expect(await ask({ parameters: { ...SUBJECT.parameters } })).toBe('remembered');
  });

  const OTHERS: readonly Partial<JudgedText>[] = [
    { engineVersion: '26.8' },
    { policyVersion: 'p2' },
    { text: 'SELECT  1' },
    { parameters: {} },
    { parameters: { b: '1' } },
    { parameters: { a: '2' } },
    { parameters: { a: '1', b: '' } },
    // Parts that would run into each other without their quotes.
    { engineVersion: '26.7","p1', policyVersion: '' },
    { parameters: { 'a","1': '' } },
  ];
  test.each(OTHERS)('of one subject is none of another: %j', async (other) => {
    const ask = watched();
    await ask();
    expect(await ask(other)).toBe('asked');
    expect(await ask()).toBe('remembered');
  });

  test('of many texts is that of each', async () => {
    const ask = watched({ entriesMax: 2_000, charsMax: 10_000_000 });
    for (let at = 0; at < 1_000; at++) expect(await ask({ text: `SELECT ${at}` })).toBe('asked');
  });

  test('is kept while it is asked for; the one that was asked for longest ago goes first', async () => {
    const ask = watched({ entriesMax: 2, charsMax: 100_000 });
    await ask({ text: 'a' });
    await ask({ text: 'b' });
    expect(await ask({ text: 'a' })).toBe('remembered');
    await ask({ text: 'c' });
    expect(await ask({ text: 'a' })).toBe('remembered');
    expect(await ask({ text: 'b' })).toBe('asked');
  });

  test('of a large text is not kept at the cost of all others for ever', async () => {
    const ask = watched({ entriesMax: 10, charsMax: 500 });
    await ask({ text: 'x'.repeat(1_000) });
    expect(await ask({ text: 'x'.repeat(1_000) })).toBe('asked');
    await ask({ text: 'small' });
    expect(await ask({ text: 'small' })).toBe('remembered');
  });

  test('that could not be given is asked for again', async () => {
    const cache = createVerdictCache({ entriesMax: 10, charsMax: 1_000 });
    await expect(cache.verdict(SUBJECT, () => Promise.reject(new Error('no engine')))).rejects.toThrow(
      'no engine',
    );
    expect(await cache.verdict(SUBJECT, () => Promise.resolve(verdictOf('y')))).toEqual(verdictOf('y'));
  });
});
