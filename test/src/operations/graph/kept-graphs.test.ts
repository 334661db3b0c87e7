import { expect, test } from 'vitest';
import type { DaysRead } from '../../../../src/operations/graph/days.ts';
import { createKeptGraphs, type KeptGraphs } from '../../../../src/operations/graph/read.ts';

const SECOND = 1_000;
const KEPT_MAX = 16;

/** Distinguished by identity alone. */
const days = (): DaysRead => ({ pairs: [], span: { from: 0, to: 0 } });
const read = (graph: DaysRead, atMs: number, mark = 'm', isMarkComplete = true) => ({
  graph,
  mark,
  atMs,
  isMarkComplete,
});

/** Read when its mark was first seen, and again when no write can be under way any more. */
function settled(kept: KeptGraphs, key: string, isMarkComplete = true): DaysRead {
  const graph = days();
  kept.put(key, read(days(), 0, 'm', isMarkComplete));
  kept.put(key, read(graph, 600 * SECOND, 'm', isMarkComplete));
  return graph;
}

test('a graph is kept for a minute, and not under another mark or key', () => {
  const kept = createKeptGraphs();
  const graph = days();
  expect(kept.get('k', 'm', 0)).toBeUndefined();
  kept.put('k', read(graph, 0));
  expect(kept.get('k', 'm', 59 * SECOND)).toBe(graph);
  expect(kept.get('k', 'm', 60 * SECOND)).toBeUndefined();
  expect(kept.get('k', 'other', 0)).toBeUndefined();
  expect(kept.get('other', 'm', 0)).toBeUndefined();
});

test('one that was read ten minutes after its mark was first seen is kept until the mark changes', () => {
  const kept = createKeptGraphs();
  const graph = settled(kept, 'k');
  expect(kept.get('k', 'm', 86_400 * SECOND)).toBe(graph);
  expect(kept.get('k', 'other', 601 * SECOND)).toBeUndefined();
});

test('one that was read a moment sooner is not', () => {
  const kept = createKeptGraphs();
  kept.put('k', read(days(), 0));
  kept.put('k', read(days(), 599 * SECOND));
  expect(kept.get('k', 'm', 700 * SECOND)).toBeUndefined();
});

test('a new mark starts the ten minutes anew', () => {
  const kept = createKeptGraphs();
  settled(kept, 'k');
  kept.put('k', read(days(), 700 * SECOND, 'next'));
  expect(kept.get('k', 'next', 800 * SECOND)).toBeUndefined();
});

test('of rows that are written past the mark nothing is kept for longer than a minute', () => {
  const kept = createKeptGraphs();
  const graph = settled(kept, 'k', false);
  expect(kept.get('k', 'm', 659 * SECOND)).toBe(graph);
  expect(kept.get('k', 'm', 660 * SECOND)).toBeUndefined();
});

test('a load that began before a newer one and ended after it serves no caller who saw the newer mark', () => {
  const kept = createKeptGraphs();
  kept.put('k', read(days(), 10 * SECOND, 'new'));
  kept.put('k', read(days(), 0, 'old'));
  expect(kept.get('k', 'new', 11 * SECOND)).toBeUndefined();
});

test('a clock that steps back does not make an answer young', () => {
  const kept = createKeptGraphs();
  kept.put('k', read(days(), 1_000 * SECOND));
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
