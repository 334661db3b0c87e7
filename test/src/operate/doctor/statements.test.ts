import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { WORKER_PORT_OFFSET } from '../../../../src/observe/open.ts';
import { tableOf, watchStatements } from '../../../../src/operate/doctor/statements.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Answers the texts one after the other, the last one again and again. */
async function serve(texts: readonly string[], port = 0): Promise<number> {
  let asked = 0;
  const server = createServer((_request, response) => {
    response.end(texts[Math.min(asked, texts.length - 1)]);
    asked += 1;
  });
  servers.push(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port; // it listens on TCP
}

/** The port of the first of two servers at neighbouring ports. */
async function serveBoth(api: readonly string[], worker: readonly string[]): Promise<number> {
  for (;;) {
    const port = await serve(api);
    try {
      await serve(worker, port + WORKER_PORT_OFFSET);
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error; // another program has the second port
    }
  }
}

const figures = (statement: string, user: string, count: number, sum: number): string =>
  [
    '# TYPE settlement_index_engine_statement_seconds histogram',
    `settlement_index_engine_statement_seconds_bucket{statement="${statement}",user="${user}",le="0.1"} ${count}`,
    `settlement_index_engine_statement_seconds_sum{statement="${statement}",user="${user}"} ${sum}`,
    `settlement_index_engine_statement_seconds_count{statement="${statement}",user="${user}"} ${count}`,
  ].join('\n');

test('the statements of API and workers, by what they took while they were watched', async () => {
  const port = await serveBoth(
    [figures('flows', 'reader', 10, 1), figures('flows', 'reader', 12, 1.5)],
    [
      figures('write-settlements', 'writer', 4, 0.5),
      [figures('write-settlements', 'writer', 14, 1.5), figures('save-blocks', 'writer', 1, 0.25)].join('\n'),
    ],
  );
  const uses = await watchStatements({ host: '127.0.0.1', port }, 0.5);
  expect(uses).toEqual([
    { statement: 'write-settlements', user: 'writer', perSecond: 20, secondsPerSecond: 2 },
    { statement: 'flows', user: 'reader', perSecond: 4, secondsPerSecond: 1 },
    { statement: 'save-blocks', user: 'writer', perSecond: 2, secondsPerSecond: 0.5 },
  ]);
  expect(tableOf(uses, 0.5)).toEqual([
    'statements of this service in 0.5 s: 26.0 a second, 3500 ms of each second',
    '   share  a second  ms a second  statement (user)',
    '  57.1 %     20.00      2000.0  write-settlements (writer)',
    '  28.6 %      4.00      1000.0  flows (reader)',
    '  14.3 %      2.00       500.0  save-blocks (writer)',
  ]);
});

test('where nothing can be watched it says what to do', async () => {
  await expect(watchStatements({ host: '127.0.0.1', port: null }, 0)).rejects.toThrow('set it to 9464');
  await expect(watchStatements({ host: '127.0.0.1', port: 1 }, 0)).rejects.toThrow('No service answers');
});
