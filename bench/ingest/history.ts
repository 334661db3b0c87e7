import type { ChainConfig } from '../../core/config/chains.ts';
import { loadConfig } from '../../core/config/load.ts';
import { createLog } from '../../core/log.ts';
import type { BlockReader } from '../../ingest/chain/block-source.ts';
import { createPortalSource } from '../../ingest/chain/portal/source.ts';
import { createRpcSource } from '../../ingest/chain/source.ts';
import { decodeContextOf } from '../../ingest/decode/context.ts';
import { logFilterOf } from '../../ingest/decode/log-kind.ts';
import { buildCatalogue } from '../../ingest/grading/catalogue.ts';
import { startLyingPortal } from '../../test/kit/lying-portal.ts';
import { startLyingRpc } from '../../test/kit/lying-rpc.ts';
import { readAll as readBlocksOf } from '../../test/kit/portal-blocks.ts';
import { sharedHistory } from '../lab/chain-history.ts';
import { judged, shown, timed } from '../lab/measure.ts';
import type { BenchPart } from '../lab/run.ts';

const SETTLEMENTS = { full: 40_000, quick: 20_000 };
/** A node or a Portal on another continent. */
const ANSWER_AFTER_MS = 100;
/** What the public Portal permits, and what a chain's nodes are asked by default. */
const PORTAL_REQUESTS = 20;
const BLOCKS_PER_DAY = 43_200;
const PORTAL_GOAL = 3;

/** History from each source, with the same checks and proofs, at the limits that a public one has. */
export const history: BenchPart = {
  name: 'history',
  summary: 'days of a chain with blocks of two seconds in an hour, from a Portal and over JSON-RPC',
  async run(context) {
    const { workspace, sized, say } = context;
    const made = await sharedHistory(context);
    await made.growTo(sized(SETTLEMENTS));
    const { rpc, url } = made.chain;
    const { from, to } = made.range();
    const portal = await startLyingPortal({
      ...{ rpc, delayMs: ANSWER_AFTER_MS, requestsPer10Seconds: PORTAL_REQUESTS },
      held: await readBlocksOf(rpc, from, to),
    });
    workspace.defer(() => portal.stop());
    const node = await startLyingRpc({ target: url, seed: 1, delayMs: ANSWER_AFTER_MS });
    workspace.defer(() => node.stop());
    const log = createLog('silent', 'bench');
    const config = configOf(node.url);
    const sources = {
      portal: createPortalSource(
        {
          ...config,
          ...{ portalUrl: portal.url, dataset: 'base-sepolia', requestsPer10Seconds: PORTAL_REQUESTS },
        },
        { log },
      ),
      rpc: createRpcSource(config, { log }),
    };
    const daysPerHour = async (source: BlockReader): Promise<number> => {
      const { ms } = await timed(() => readAll(source, config, from, to));
      return (((to - from + 1) / ms) * 3_600_000) / BLOCKS_PER_DAY;
    };
    const overRpc = await daysPerHour(sources.rpc);
    const fromPortal = await daysPerHour(sources.portal);
    say(
      `${to - from + 1} blocks of 40 settlements; answers begin after ${ANSWER_AFTER_MS} ms; ${portal.requestedMs.length} requests to the Portal, ${node.calls()} calls to the node`,
    );
    return [
      shown('history-rpc', overRpc, 'days/h'),
      shown('history-portal', fromPortal, 'days/h'),
      judged('history-portal-against-rpc', fromPortal / overRpc, 'x', '>=', PORTAL_GOAL),
    ];
  },
};

function configOf(rpcUrl: string): ChainConfig {
  const [known] = loadConfig({ env: { CHAINS: 'base-sepolia' } }).chains;
  if (known === undefined) throw new Error('Base Sepolia is built in');
  return { ...known, rpcUrls: [rpcUrl] };
}

/** Window after window, as many at once as a backfill reads. */
async function readAll(source: BlockReader, config: ChainConfig, from: number, to: number): Promise<void> {
  const filter = logFilterOf(decodeContextOf(config, buildCatalogue(loadConfig({ env: {} }).catalogue)));
  let next = from;
  const work = async (): Promise<void> => {
    while (next <= to) {
      const start = next;
      next = Math.min(to, start + WINDOW_BLOCKS - 1) + 1;
      await source.read(start, next - 1, filter);
    }
  };
  await Promise.all(Array.from({ length: config.parallelWindows }, work));
}

/** 40 settlements of two logs in each block: what the backfill settles at. */
const WINDOW_BLOCKS = 250;
