import { expect, test } from 'vitest';
import { lanesOf, runLanes } from '../../../ingest/fetch/host-lanes.ts';

const signal = new AbortController().signal;
const items = (...uris: readonly string[]): { uri: string }[] => uris.map((uri) => ({ uri }));

test('what goes to one host is one lane, whatever its spelling; data and unreadable URIs do not wait', () => {
  const lanes = lanesOf(
    items(
      'https://a.example/1',
      ' HTTPS://A.EXAMPLE/2',
      'https://a.example:8443/',
      'data:,x',
      'data:,y',
      'nonsense',
      'http://',
    ),
  );
  expect(lanes.map((lane) => lane.length)).toEqual([2, 1, 1, 1, 1, 1]);
});

test('IPFS has a few lanes, however many files there are', () => {
  expect(lanesOf(items(...Array.from({ length: 100 }, (_, n) => `ipfs://cid/${n}`)))).toHaveLength(4);
});

test('a host that failed three times by the same problem of a host counts as down, and no other host does', async () => {
  const told: (string | null)[] = [];
  const run = async (problems: readonly string[], uri = 'https://a.example/'): Promise<void> => {
    told.length = 0;
    const left = [...problems];
    await runLanes(
      [problems.map(() => ({ uri }))],
      { concurrency: 3, signal, pauseMs: 0 },
      async (_item, down) => {
        told.push(down);
        return left.shift() ?? '';
      },
    );
  };
  await run(['timeout', 'timeout', 'timeout', 'timeout', 'timeout']);
  expect(told).toEqual([null, null, null, 'timeout', 'timeout']);
  await run(['timeout', 'timeout', '', 'timeout', 'timeout']);
  expect(new Set(told)).toEqual(new Set([null]));
  await run(['timeout', 'unreachable', 'timeout', 'unreachable']);
  expect(new Set(told)).toEqual(new Set([null]));
  await run(['refused', 'refused', 'refused', 'refused']);
  expect(new Set(told)).toEqual(new Set([null]));
  await run(['timeout', 'timeout', 'timeout', 'timeout'], 'ipfs://cid');
  expect(new Set(told)).toEqual(new Set([null]));
});

test('nothing is begun when the time is over, and a failure of the work ends all of it', async () => {
  let begun = 0;
  const lanes = [items('https://a.example/', 'https://a.example/'), items('https://b.example/')];
  const options = { concurrency: 1, signal, pauseMs: 0 };
  await runLanes(lanes, { ...options, beginWithinMs: -1 }, async () => {
    begun++;
    return '';
  });
  expect(begun).toBe(0);
  const failing = runLanes(lanes, options, async () => {
    throw new Error('a bug');
  });
  await expect(failing).rejects.toThrow('a bug');
});

test('after one failure the other hosts begin nothing more, and their pauses end at once', async () => {
  const begun: string[] = [];
  const lanes = [
    items('https://slow.example/1', 'https://slow.example/2', 'https://slow.example/3'),
    items('https://broken.example/'),
  ];
  const startedMs = performance.now();
  const failing = runLanes(lanes, { concurrency: 2, signal, pauseMs: 60_000 }, async ({ uri }) => {
    begun.push(uri);
    if (uri.includes('broken')) throw new Error('a bug');
    return '';
  });
  await expect(failing).rejects.toThrow('a bug');
  expect(begun.toSorted()).toEqual(['https://broken.example/', 'https://slow.example/1']);
  expect(performance.now() - startedMs).toBeLessThan(30_000);
});
