import { getEventListeners } from 'node:events';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../../core/config/load.ts';
import { createLog } from '../../../core/log.ts';
import { type DemoChain, startDemoChain } from '../../../demo/chain/anvil.ts';
import { mine } from '../../../demo/chain/sender.ts';
import { ReadAbandoned } from '../../../ingest/chain/block-source.ts';
import { announceHeads, createRpcSource } from '../../../ingest/chain/source.ts';
import { openWebSocketClient } from '../../../ingest/chain/web-socket-client.ts';
import { pausableProxy } from '../../kit/pausable-proxy.ts';
import { waitUntil } from '../../kit/wait-until.ts';

let chain: DemoChain;
beforeAll(async () => {
  chain = await startDemoChain();
});
afterAll(() => chain?.stop());

function sourceOver(url: string) {
  const [config] = loadConfig({ env: { CHAINS: 'base-sepolia', RPC_URL_84532: url } }).chains;
  if (!config) throw new Error('no chain configured');
  const stopping = new AbortController();
  const limits = { backOffFirstMs: 1, backOffMaxMs: 5 };
  return {
    source: createRpcSource(config, { log: createLog('silent', 'test'), signal: stopping.signal, limits }),
    stop: () => stopping.abort(),
  };
}

test('a websocket announces each new block, until the last listener is gone', async () => {
  const { source, stop } = sourceOver(chain.wsUrl);
  let heads = 0;
  const silence = source.onNewHead(() => {
    heads += 1;
  });
  await waitUntil('the subscription is there', async () => {
    await mine(chain.rpc);
    return heads > 0;
  });
  const before = heads;
  await mine(chain.rpc);
  await waitUntil('the next block is announced', () => heads > before);
  silence();
  stop();
});

describe('a subscription', () => {
  /** Counts the blocks that it hears of; the chain stands behind a proxy that can break connections. */
  async function subscribe() {
    const proxy = await pausableProxy(chain.wsUrl.replace('ws:', 'http:'));
    const ending = new AbortController();
    const lines: string[] = [];
    const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(line) });
    let heads = 0;
    const count = (): void => void heads++;
    const done = announceHeads(proxy.url.replace('http:', 'ws:'), count, log, ending.signal);
    await waitUntil('it hears of blocks', async () => {
      await mine(chain.rpc);
      return heads > 0;
    });
    return { proxy, ending, lines, done, heads: () => heads };
  }

  test('that is ended closes its connection and leaves no listener at the signal', async () => {
    const { proxy, ending, lines, done } = await subscribe();
    ending.abort();
    await done;
    expect(getEventListeners(ending.signal, 'abort')).toEqual([]);
    expect(lines).toEqual([]);
    await waitUntil('the node has no connection of ours', () => proxy.connections() === 0);
    await proxy.stop();
  });

  test('whose connection breaks is said once and made again after a pause', async () => {
    const { proxy, ending, lines, done } = await subscribe();
    await proxy.stop();
    await waitUntil('the end was noticed', () => lines.length > 0);
    // The pause listens for the abort, and nothing else does.
    await waitUntil('the pause began', () => getEventListeners(ending.signal, 'abort').length > 0);
    expect(getEventListeners(ending.signal, 'abort')).toHaveLength(1);
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain(proxy.url);
    ending.abort();
    await done;
  });
});

test('an error of the node is an answer; a call after the end of the connection fails', async () => {
  const client = await openWebSocketClient(chain.wsUrl, { maxMessageBytes: 1024 });
  expect(await client.call('eth_noSuchMethod', [])).toMatchObject({ error: { code: expect.any(Number) } });
  client.close();
  await client.ended;
  await expect(client.call('eth_chainId', [])).rejects.toThrow('the websocket was closed');
});

test('a message beyond the limit ends the connection, and what waits for it fails', async () => {
  const client = await openWebSocketClient(chain.wsUrl, { maxMessageBytes: 256 });
  await expect(client.call('eth_getBlockByNumber', ['latest', false])).rejects.toThrow(
    'the websocket was closed',
  );
  await client.ended;
});

test('a range that the chain no longer reaches is abandoned after the permitted attempts, not waited for', async () => {
  const { source, stop } = sourceOver(chain.url);
  const { head } = await source.tip();
  const filter = { addresses: [chain.token.address], topics: [], isCandidate: () => false };
  await expect(source.read(head.number, head.number + 3, filter, { freshStartsMax: 1 })).rejects.toThrow(
    ReadAbandoned,
  );
  stop();
});
