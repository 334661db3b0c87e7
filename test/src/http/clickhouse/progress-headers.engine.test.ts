import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createClient } from '@clickhouse/client';
import { afterAll, expect } from 'vitest';
import { type Door, openDoor } from '../../../kit/clickhouse-door.ts';
import { test } from '../../../kit/fixtures.ts';
import { waitUntil } from '../../../kit/wait-until.ts';

/** `X-ClickHouse-Progress` on the wire, and as the official client reads an answer that begins with it. */

let door: Door;
/** A query that takes some seconds here, and one that ends with its time. */
let slow: string;
const ENDLESS = crossed(1_000_000);

function crossed(times: number): string {
  return `SELECT count() FROM (SELECT cityHash64(a.number, b.number) AS h FROM numbers(1000000) AS a CROSS JOIN numbers(${times}) AS b WHERE h != 1)`;
}

test.beforeAll(async ({ sqlService }) => {
  door = await openDoor(sqlService);
  for (let times = 20; ; times *= 4) {
    const { headers } = await door.ask(crossed(times));
    const ms = Number(JSON.parse(headers.get('x-clickhouse-summary') ?? '{}').elapsed_ns) / 1e6;
    slow = crossed(Math.ceil((times * 2_500) / ms));
    if (ms > 500) return;
  }
});
afterAll(async () => {
  await door?.close();
});

const ASKED = { send_progress_in_http_headers: '1', http_headers_progress_interval_ms: '100' };

/** What a connection was sent, by its pieces. */
async function connected(): Promise<{ readonly socket: Socket; readonly pieces: string[] }> {
  const { hostname, port } = new URL(door.url);
  const socket = connect(Number(port), hostname);
  const pieces: string[] = [];
  socket.on('data', (piece) => pieces.push(piece.toString('latin1')));
  await once(socket, 'connect');
  return { socket, pieces };
}

function post(socket: Socket, text: string, words: Readonly<Record<string, string>>): void {
  const head = [
    `POST /?${new URLSearchParams(words)} HTTP/1.1`,
    'Host: localhost',
    `X-ClickHouse-Key: ${door.key}`,
    `Content-Length: ${text.length}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${text}`);
}

const PROGRESS = /^X-ClickHouse-Progress: (\{.*\})$/gm;

const progressIn = (text: string): Record<string, string>[] =>
  [...text.matchAll(PROGRESS)].map(([, json = '']) => JSON.parse(json));

const isWhole = (text: string): boolean => /\r\n0\r\n\r\n$/.test(text) || /content-length: 0/i.test(text);

test('the headers leave while the query runs, in one head with the others, and the connection serves the next one', async () => {
  const { socket, pieces } = await connected();
  const all = (): string => pieces.join('');
  post(socket, slow, ASKED);
  await waitUntil('the first leaves', () => progressIn(all()).length > 0);
  expect(all()).not.toContain('\r\n\r\n');
  await waitUntil('the answer is whole', () => isWhole(all()), 60_000);
  const [head = '', body = ''] = all().split(/\r\n\r\n/);
  expect(head.match(/HTTP\/1\.1/g)).toHaveLength(1);
  expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\nX-ClickHouse-Progress: /);
  expect(head).toMatch(/^x-clickhouse-summary: /im);
  expect(body).toMatch(/\d+\n/);
  const told = progressIn(head);
  const read = told.map(({ read_rows: rows }) => Number(rows));
  expect(read.toSorted((a, b) => a - b)).toEqual(read);
  expect(told[0]).toEqual({
    read_rows: expect.stringMatching(/^\d+$/),
    read_bytes: expect.stringMatching(/^\d+$/),
    total_rows_to_read: expect.stringMatching(/^\d+$/),
    elapsed_ns: expect.stringMatching(/^\d+$/),
    memory_usage: expect.stringMatching(/^\d+$/),
  });
  pieces.length = 0;
  post(socket, 'SELECT nothing FROM settlements', ASKED);
  await waitUntil('the next is answered', () => all().includes('DB::Exception'));
  expect(all()).toMatch(/^HTTP\/1\.1 400/);
  socket.destroy();
});

test('a failure behind them is readable: the code is in a header, the text is the body', async () => {
  const { socket, pieces } = await connected();
  const all = (): string => pieces.join('');
  post(socket, ENDLESS, { ...ASKED, max_execution_time: '2' });
  await waitUntil('it fails', () => all().includes('DB::Exception'), 60_000);
  expect(progressIn(all()).length).toBeGreaterThan(0);
  expect(all()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(all()).toMatch(/^x-clickhouse-exception-code: 159\r$/im);
  expect(all()).toMatch(/Code: 159\. DB::Exception: .*\(TIMEOUT_EXCEEDED\)/);
  socket.destroy();
});

test('the official client reads rows and failures, also one behind the other on a connection', async () => {
  const client = createClient({
    url: door.url,
    username: 'default',
    password: door.key,
    max_open_connections: 1,
    clickhouse_settings: { send_progress_in_http_headers: 1, http_headers_progress_interval_ms: '100' },
  });
  try {
    const failed = client.query({ query: ENDLESS, clickhouse_settings: { max_execution_time: 2 } });
    await expect(failed).rejects.toMatchObject({ code: '159', type: 'TIMEOUT_EXCEEDED' });
    const answer = await client.query({ query: slow, format: 'JSONEachRow' });
    expect(answer.response_headers['x-clickhouse-progress']).toContain('read_rows');
    expect(await answer.json()).toEqual([{ 'count()': expect.anything() }]);
    const quick = await client.query({ query: 'SELECT 1 AS one', format: 'JSONEachRow' });
    expect([await quick.json(), quick.response_headers['x-clickhouse-progress']]).toEqual([
      [{ one: 1 }],
      undefined,
    ]);
  } finally {
    await client.close();
  }
});
