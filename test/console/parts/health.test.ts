import { h } from 'preact';
import { describe, expect, it } from 'vitest';
import { ChainHealth } from '../../../console/parts/health.tsx';
import type { ChainTelemetry } from '../../../console/wire.ts';
import { elementsOf, factOf, htmlOf, textOf } from '../../kit/drawn.ts';

const CHAIN: ChainTelemetry = {
  chain: 'eip155:8453',
  name: 'Base',
  indexed_block: 1_200,
  indexed_at: '2026-11-20T09:15:00Z',
  head_block: 1_200,
  finalized_block: 1_100,
  lag_seconds: 1,
  state: 'following',
  explorer_url: null,
  sample_data_to: null,
  provider: 'agreeing',
  backfill: { blocks_done: 1_200, blocks_total: 1_200, percent: 100, eta_seconds: null, source: null },
  rows_per_second: 4,
  blocks_per_second: 1,
  rows_written: 12_000,
  reorgs: 0,
  deepest_reorg: 0,
  retries: 0,
  contradictions: 0,
  dead_letters: 0,
  fees: null,
  last_error: null,
  last_written_at: null,
  reported_at: null,
};

/** The colour and the words of the freshness of a chain. */
function health(fields: Partial<ChainTelemetry>): [tone: string, text: string] {
  const html = htmlOf(h(ChainHealth, { chain: { ...CHAIN, ...fields } }));
  const [, tone = ''] = /class="dot (\w+)"/.exec(elementsOf(html, 'class="card-head"')[0] ?? '') ?? [];
  return [tone, textOf(factOf(html, 'Freshness'))];
}

describe('the health of a chain', () => {
  it.each([
    ['at its tip', {}, 'good', 'at the tip, following'],
    ['a minute behind', { lag_seconds: 61 }, 'warn', '1 min behind, following'],
    [
      'at its tip with logs that are not rows yet',
      { state: 'incomplete' },
      'warn',
      'at the tip, some logs are not rows yet',
    ],
    [
      'whose node does not answer',
      { state: 'unreachable', lag_seconds: 5 },
      'bad',
      '5 s behind, its node does not answer',
    ],
    ['that never began', { state: 'not_started', lag_seconds: null }, 'bad', 'not started'],
    ['that was imported', { state: 'imported', lag_seconds: null }, 'good', 'imported'],
    [
      'of sample data',
      { state: 'imported', lag_seconds: null, sample_data_to: 9 },
      'good',
      'sample data, imported',
    ],
  ] as const)('%s is said in a colour and in words', (_, fields, tone, text) => {
    expect(health(fields)).toEqual([tone, text]);
  });
});

it('faults of a chain are marked as soon as there is one', () => {
  const text = (fields: Partial<ChainTelemetry>): string =>
    htmlOf(h(ChainHealth, { chain: { ...CHAIN, ...fields } }));
  expect(factOf(text({}), 'Dead letters')).not.toContain('warn');
  expect(factOf(text({ dead_letters: 1 }), 'Dead letters')).toContain('warn');
  expect(textOf(factOf(text({ reorgs: 2, deepest_reorg: 3 }), 'Reorgs'))).toBe('2, deepest 3 blocks');
});
