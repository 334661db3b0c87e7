import { describe, expect, it } from 'vitest';
import { isStuck, liveStateOf, stateText } from '../../../console/flow/live-state.ts';
import type { ChainTelemetry } from '../../../console/wire.ts';

function chain(fields: Partial<ChainTelemetry>): ChainTelemetry {
  // What the rule reads; the other fields of the answer are of no concern to it.
  return {
    chain: 'eip155:8453',
    state: 'following',
    lag_seconds: 2,
    sample_data_to: null,
    ...fields,
  } as ChainTelemetry;
}

describe('a list is live', () => {
  it('while the index is at the tip of every chain that it follows', () => {
    const chains = [chain({}), chain({ chain: 'eip155:137', state: 'imported', lag_seconds: null })];
    expect(liveStateOf(chains)).toEqual({ tone: 'live', text: 'live' });
  });

  it.each([
    ['a minute behind', { lag_seconds: 61 }, 'Base 1 min behind'],
    ['with a node that does not answer', { state: 'unreachable' }, 'Base unreachable'],
    ['not started', { state: 'not_started', lag_seconds: null }, 'Base not started'],
  ])('not with a chain %s', (_, fields, text) => {
    const other = chain({ chain: 'eip155:137' });
    expect(liveStateOf([other, chain(fields)])).toEqual({ tone: 'late', text });
  });

  it('not where its nodes contradict each other, and where logs are not rows yet it says so', () => {
    const torn = chain({ state: 'contradicting' });
    expect(liveStateOf([torn])).toEqual({ tone: 'late', text: 'Base contradicting' });
    expect([isStuck(torn), stateText(torn)]).toEqual([true, 'its nodes contradict the chain or each other']);
    const incomplete = chain({ state: 'incomplete' });
    expect(liveStateOf([incomplete]).tone).toBe('live');
    expect([isStuck(incomplete), stateText(incomplete)]).toEqual([false, 'some logs are not rows yet']);
  });

  it('not where several are late: the latest is named', () => {
    const chains = [chain({ lag_seconds: 90 }), chain({ chain: 'eip155:137', lag_seconds: 7_200 })];
    expect(liveStateOf(chains)).toEqual({ tone: 'late', text: 'Polygon 2 h behind, 1 more late' });
  });

  it('never of data that no chain sends, nor while the index does not answer', () => {
    const imported = chain({ state: 'imported', lag_seconds: null });
    expect(liveStateOf([imported]).tone).toBe('still');
    expect(liveStateOf([{ ...imported, sample_data_to: 5 }])).toEqual({
      tone: 'still',
      text: 'sample data, not live',
    });
    expect(liveStateOf(null)).toEqual({ tone: 'still', text: 'status unknown' });
  });
});
