import { expect, test } from 'vitest';
import type { PaymentPair } from '../../../../core/domain/payment-graph.ts';
import { createKeptGraphs, type KeptGraphs } from '../../../../src/operations/graph/read.ts';

const SECOND = 1_000;
const KEPT_MAX = 16;

/** CommandOutput apart by identity alone. */
const graph = (): readonly PaymentPair[] => [];
const read = (pairs: readonly PaymentPair[], atMs: number, mark = 'm', isMarkComplete = true) => ({
  pairs,
  mark,
  atMs,
  isMarkComplete,
});

/** Read when its mark was first seen, and again when no write can be under way any more. */
function settled(kept: KeptGraphs, key: string, isMarkComplete = true): readonly PaymentPair[] {
  const pairs = graph();
  kept.put(key, read(graph(), 0, 'm', isMarkComplete));
  kept.put(key, read(pairs, 600 * SECOND, 'm', isMarkComplete));
  return pairs;
}

test('a graph is kept for a minute, and not under another mark or key', () => {
  const kept = createKeptGraphs();
  const pairs = graph();
  expect(kept.get('k', 'm', 0)).toBeUndefined();
  kept.put('k', read(pairs, 0));
  expect(kept.get('k', 'm', 59 * SECOND)).toBe(pairs);
  expect(kept.get('k', 'm', 60 * SECOND)).toBeUndefined();
  expect(kept.get('k', 'other', 0)).toBeUndefined();
  expect(kept.get('other', 'm', 0)).toBeUndefined();
});

test('one that was read ten minutes after its mark was first seen is kept until the mark changes', () => {
  const kept = createKeptGraphs();
  const pairs = settled(kept, 'k');
  expect(kept.get('k', 'm', 86_400 * SECOND)).toBe(pairs);
  expect(kept.get('k', 'other', 601 * SECOND)).toBeUndefined();
});

test('one that was read a moment sooner is not', () => {
  const kept = createKeptGraphs();
  kept.put('k', read(graph(), 0));
  kept.put('k', read(graph(), 599 * SECOND));
  expect(kept.get('k', 'm', 700 * SECOND)).toBeUndefined();
});

test('a new mark starts the ten minutes anew', () => {
  const kept = createKeptGraphs();
  settled(kept, 'k');
  kept.put('k', read(graph(), 700 * SECOND, 'next'));
  expect(kept.get('k', 'next', 800 * SECOND)).toBeUndefined();
});

test('of rows that are written past the mark nothing is kept for longer than a minute', () => {
  const kept = createKeptGraphs();
  const pairs = settled(kept, 'k', false);
  expect(kept.get('k', 'm', 659 * SECOND)).toBe(pairs);
  expect(kept.get('k', 'm', 660 * SECOND)).toBeUndefined();
});

test('a load that began before a newer one and ended after it serves nobody who saw the newer mark', () => {
  const kept = createKeptGraphs();
  kept.put('k', read(graph(), 10 * SECOND, 'new'));
  kept.put('k', read(graph(), 0, 'old'));
  expect(kept.get('k', 'new', 11 * SECOND)).toBeUndefined();
});

test('a clock that steps back does not make an answer young', () => {
  const kept = createKeptGraphs();
  kept.put('k', read(graph(), 1_000 * SECOND));
  expect(kept.get('k', 'm', 900 * SECOND)).toBeUndefined();
});

test('the one that was used least lately makes room', () => {
  const kept = createKeptGraphs();
  const first = settled(kept, 'k0');
  for (let index = 1; index < KEPT_MAX; index++) settled(kept, `k${index}`);
  expect(kept.get('k0', 'm', 600 * SECOND)).toBe(first);
  settled(kept, 'one more');
  expect(kept.get('k0', 'm', 600 * SECOND)).toBe(first);
  expect(kept.get('k1', 'm', 600 * SECOND)).toBeUndefined();
  expect(kept.get('k2', 'm', 600 * SECOND)).toBeDefined();
});
