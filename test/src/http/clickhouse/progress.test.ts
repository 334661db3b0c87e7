import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { progressIntervalMs } from '../../../../sandbox/policy/settings.ts';
import { sendProgress } from '../../../../src/http/clickhouse/progress.ts';

/** How often headers of progress are sent. That they are read: progress-headers.engine.test.ts. */

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const NOW = { readRows: 1, readBytes: 8, totalRows: 2, elapsedMs: 1.5, cpuMs: 1, memoryBytes: -1 };

async function sentIn(seconds: number, intervalMs: number, known = true): Promise<string[]> {
  const sent: string[] = [];
  const socket = { writable: true, write: (text: string) => sent.push(text) };
  // The part of an answer that is used.
  const raw = { socket } as unknown as ServerResponse;
  const end = sendProgress(raw, { intervalMs, look: async () => (known ? NOW : null) });
  await vi.advanceTimersByTimeAsync(seconds * 1_000);
  end();
  const count = sent.length;
  await vi.advanceTimersByTimeAsync(200_000);
  expect(sent).toHaveLength(count);
  socket.write('HTTP/1.1 400 Bad Request\r\nDate: x\r\n\r\n');
  return sent;
}

test.each([
  ['nothing of a query that ends within the second', 0.9, 100, 0],
  ['one a second at first', 5, 100, 5],
  ['fewer of a long query than clients take headers', 300, 100, 27],
  ['as often as is asked', 300, 110_000, 2],
  ['at least every two minutes', 300, Number.POSITIVE_INFINITY, 2],
])('%s', async (_name, seconds, intervalMs, count) => {
  expect(await sentIn(seconds, intervalMs)).toHaveLength(count + 1);
});

test('one status line, as from a ClickHouse server, and numbers as texts', async () => {
  const [first, second, last] = await sentIn(2.5, 0);
  const header =
    'X-ClickHouse-Progress: {"read_rows":"1","read_bytes":"8","total_rows_to_read":"2","elapsed_ns":"1500000","memory_usage":"0"}\r\n';
  expect([first, second, last]).toEqual([`HTTP/1.1 200 OK\r\n${header}`, header, 'Date: x\r\n\r\n']);
});

test('nothing of a query that is not seen running: its answer has its own status', async () => {
  expect(await sentIn(30, 100, false)).toEqual(['HTTP/1.1 400 Bad Request\r\nDate: x\r\n\r\n']);
});

test.each([
  [[], null],
  [['0'], null],
  [['1'], 100],
  [['true', '30000'], 30_000],
  [['1', '-5'], 100],
  [['1', 'soon'], 100],
])('%j asks for %s', ([send = '', interval = ''], wanted) => {
  const settings = [
    { name: 'send_progress_in_http_headers', value: send },
    { name: 'http_headers_progress_interval_ms', value: interval },
  ];
  expect(progressIntervalMs(settings)).toBe(wanted);
});
