import { shareHistory } from '../ingest/chain-history.ts';
import { indexHistory } from '../ingest/index-history.ts';
import { startRecordingProxy } from '../ingest/recording-proxy.ts';
import type { Figure } from '../support/figure.ts';
import type { BenchPart } from '../support/run-bench.ts';
import { shown } from './index-size.ts';
import { processFigures } from './process-figures.ts';

/** The cost of reading a chain: calls to its node, and processor time of the worker and of the engine. */

const SETTLEMENTS = 40_000;
const SETTLEMENTS_QUICK = 4_000;
const MILLION = 1_000_000;

export const ingestCost: BenchPart = {
  name: 'ingest',
  summary: 'RPC calls by method and processor time of indexing a chain from anvil',
  async run(context) {
    const history = await shareHistory()(context);
    await history.growTo(context.quick ? SETTLEMENTS_QUICK : SETTLEMENTS);
    const settlements = history.settlements();
    const { from, to } = history.range();
    const proxy = await startRecordingProxy(context.workspace, history.chain.url);
    await indexHistory(context.workspace, { name: 'recorded', rpcUrl: proxy.url, settlements });
    const figures = callFigures(proxy.recording().requests, settlements);
    const own = process.cpuUsage();
    let worker = 0;
    let engine = 0;
    await indexHistory(context.workspace, {
      name: 'measured',
      rpcUrl: history.chain.url,
      settlements,
      onIndexed(enginePid) {
        const { user, system } = process.cpuUsage(own);
        worker = (user + system) / 1e6;
        engine = processFigures(enginePid).cpuSeconds;
      },
    });
    return [
      shown('chain-settlements-per-block', settlements / (to - from + 1), 'settlements'),
      ...figures,
      shown('ingest-worker-cpu', (worker / settlements) * MILLION, 's/million'),
      shown('ingest-engine-cpu', (engine / settlements) * MILLION, 's/million'),
    ];
  },
};

/** Counts the calls of a batch one by one, as node providers do. */
function callFigures(requests: readonly string[], settlements: number): Figure[] {
  const counts = new Map<string, number>();
  for (const body of requests) {
    const parsed: unknown = JSON.parse(body);
    for (const call of Array.isArray(parsed) ? parsed : [parsed]) {
      const { method } = call as { readonly method: string }; // sent by our own client
      counts.set(method, (counts.get(method) ?? 0) + 1);
    }
  }
  const perMillion = (calls: number): number => (calls / settlements) * MILLION;
  const all = [...counts.values()].reduce((sum, calls) => sum + calls, 0);
  return [
    ...[...counts.entries()]
      .sort(([, a], [, b]) => b - a)
      .map(([method, calls]) => shown(`rpc-${method}`, perMillion(calls), 'calls/million')),
    shown('rpc-all', perMillion(all), 'calls/million'),
    shown('rpc-http-requests', perMillion(requests.length), 'requests/million'),
  ];
}
