import { getEventListeners } from 'node:events';
import { pino } from 'pino';
import { getWebSocketRpcClient } from 'viem/utils';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../../core/config/load.ts';
import { createLog } from '../../../core/log.ts';
import { type DemoChain, startDemoChain } from '../../../demo/chain/demo-chain.ts';
import { mine } from '../../../demo/chain/sender.ts';
import { ReadAbandoned } from '../../../ingest/chain/block-source.ts';
import { announceHeads } from '../../../ingest/chain/new-heads.ts';
import { createRpcSource } from '../../../ingest/chain/source.ts';
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

test('a websocket announces each new block, until nobody listens any more', async () => {
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

test('a subscription that ends leaves no listener behind, neither at the signal nor at the shared socket', async () => {
  // The same socket that announceHeads uses: viem keeps one per URL and options.
  const client = await getWebSocketRpcClient(chain.wsUrl, { reconnect: false });
  const closers = () => getEventListeners(client.socket, 'close').length;
  const before = closers();
  const ending = new AbortController();
  const first = announceHeads(chain.wsUrl, () => undefined, createLog('silent', 'test'), ending.signal);
  await waitUntil('it listens', () => closers() > before);
  ending.abort();
  await first;
  expect(closers()).toBe(before);

  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(line) });
  const lasting = new AbortController();
  const second = announceHeads(chain.wsUrl, () => undefined, log, lasting.signal);
  await waitUntil('it listens again', () => closers() > before);
  client.close();
  await waitUntil('the end of the subscription was noticed', () => lines.length > 0);
  // The pause before the next subscription listens for the abort, and nothing else does.
  await waitUntil('the pause began', () => getEventListeners(lasting.signal, 'abort').length > 0);
  expect(getEventListeners(lasting.signal, 'abort')).toHaveLength(1);
  lasting.abort();
  await second;
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
