import { startBenchEngine } from '../support/bench-engine.ts';
import { watchEventLoop } from '../support/event-loop.ts';
import type { Figure } from '../support/figure.ts';
import { startMeasuredApi } from '../support/measured-api.ts';
import { type BenchContext, runBench } from '../support/run-bench.ts';
import { seedHistory } from '../support/seed-history.ts';
import { measureFeedDepth } from './feed-depth.ts';
import { measureWalletPages } from './wallet-pages.ts';

const ROWS = 10_000_000;
const ROWS_QUICK = 500_000;

async function readPages({ quick, workspace, say }: BenchContext): Promise<Figure[]> {
  const engine = await startBenchEngine(workspace, 'reads');
  const rows = quick ? ROWS_QUICK : ROWS;
  const parts = await seedHistory(engine.writer, { rows, newestTime: Math.floor(Date.now() / 1000) }, say);
  say(`${rows} rows in ${parts.settlements} parts of settlements, ${parts.walletLog} of wallet_rows`);
  const api = await startMeasuredApi(engine.reader, workspace);
  const loop = watchEventLoop();
  const figures = [
    ...(await measureFeedDepth({ quick, say }, engine.reader, api)),
    ...(await measureWalletPages({ quick, say }, engine.reader, api)),
  ];
  const delay = loop.stop();
  return [
    ...figures,
    { name: 'api-event-loop-p99', value: delay.p99Ms, unit: 'ms', goal: '-', ok: true },
    { name: 'api-event-loop-max', value: delay.maxMs, unit: 'ms', goal: '-', ok: true },
    { name: 'api-rss-max', value: delay.rssMaxMib, unit: 'MiB', goal: '-', ok: true },
  ];
}

await runBench({
  name: 'reads',
  description: 'Measures pages of the API over millions of synthetic settlements in the embedded engine.',
  parts: [{ name: 'pages', summary: 'feed and wallet pages over the real HTTP API', run: readPages }],
});
