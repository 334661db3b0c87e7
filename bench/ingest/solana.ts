import { loadConfig } from '../../core/config/load.ts';
import type { Chain } from '../../core/domain/chains.ts';
import { createRpc } from '../../demo/chain/json-rpc.ts';
import type { WindowReader } from '../../ingest/follow/pipeline.ts';
import { createSolanaWindows } from '../../ingest/follow/solana-windows.ts';
import { buildCatalogue } from '../../ingest/grading/catalogue.ts';
import { countRows } from '../../ingest/write/batch-rows.ts';
import { createBatchWriter } from '../../ingest/write/batch-writer.ts';
import { createVersions } from '../../ingest/write/versions.ts';
import { solanaSource, solanaTokens, startSolanaChain } from '../../test/kit/solana-chain.ts';
import { type BenchEngine, benchLog, emptyTables, startBenchEngine } from '../lab/engine.ts';
import { inTurn, median, shown, timed } from '../lab/measure.ts';
import type { BenchPart } from '../lab/run.ts';

const BLOCKS = { full: 3_000, quick: 600 };
const ROUNDS = { full: 3, quick: 2 };
/** As the configuration's default. */
const WINDOW_SLOTS = 100;
const SEED = 45;

/**
 * Final blocks of Solana to acknowledged rows, against fetching and parsing the answers of the same calls. Blocks are small here: the work for
 * a vote, of which a block of mainnet has a thousand, is to read its JSON.
 */
export const solana: BenchPart = {
  name: 'solana',
  summary: 'blocks of a local Solana to written rows, against only reading the same answers',
  async run({ sized, workspace, say }) {
    const world = await startSolanaChain(SEED);
    workspace.defer(() => world.node.stop());
    await world.grow(sized(BLOCKS));
    const slots = world.node.ledger.producedSlots(0, world.node.ledger.slot('finalized'));
    const engine = await startBenchEngine(workspace, 'solana');
    const config = { chain: world.chain, tokens: solanaTokens(world) };
    const windows = createSolanaWindows({ config, source: solanaSource(world.chain, [world.node.url]) });
    let rows = 0;
    const { ours, reading } = await inTurn(
      {
        async ours() {
          await emptyTables(engine);
          const { ms, result } = await timed(() => index(engine, { windows, chain: world.chain, slots }));
          rows = result;
          return ms;
        },
        reading: async () => (await timed(() => readAlone(world.node.url, slots))).ms,
      },
      { rounds: sized(ROUNDS), warmUp: 1 },
    );
    say(`${slots.length} blocks with ${world.kinds.size} transactions, of which ${rows} rows were made`);
    const [ourMs, readingMs] = [median(ours), median(reading)];
    const perSecond = (count: number, ms: number): number => count / (ms / 1_000);
    return [
      shown('solana-blocks', perSecond(slots.length, ourMs), 'blocks/s'),
      shown('solana-rows', perSecond(rows, ourMs), 'rows/s'),
      shown('solana-reading-alone', perSecond(slots.length, readingMs), 'blocks/s'),
      shown('solana-time-against-reading-alone', ourMs / readingMs, 'x'),
    ];
  },
};

/** The rows that were written. */
async function index(
  { writer }: BenchEngine,
  {
    windows,
    chain,
    slots,
  }: { readonly windows: WindowReader; readonly chain: Chain; readonly slots: readonly number[] },
): Promise<number> {
  const { signal } = new AbortController();
  const catalogue = buildCatalogue(loadConfig({ env: {} }).catalogue);
  const batches = createBatchWriter({ chain, writer, versions: createVersions(0n), log: benchLog(), signal });
  const last = slots.at(-1) ?? 0;
  const writes: Promise<void>[] = [];
  let written = 0;
  for (let from = 0; from <= last; from += WINDOW_SLOTS) {
    const batch = await windows.read(from, Math.min(last, from + WINDOW_SLOTS - 1), catalogue);
    const rows = batch.rowsBy(catalogue);
    written += countRows(rows);
    // As a backfill, which reads on meanwhile.
    writes.push(batches.write(rows));
  }
  await Promise.all(writes);
  return written;
}

/** The same calls in the same order, whose answers are parsed and dropped. */
async function readAlone(url: string, slots: readonly number[]): Promise<void> {
  const rpc = createRpc(url);
  const options = { commitment: 'finalized', encoding: 'json', rewards: false };
  const last = slots.at(-1) ?? 0;
  for (let from = 0; from <= last; from += WINDOW_SLOTS) {
    const own = await rpc.call<number[]>('getBlocks', from, Math.min(last, from + WINDOW_SLOTS - 1));
    const block = (slot: number): Promise<unknown> =>
      rpc.call('getBlock', slot, { ...options, maxSupportedTransactionVersion: 0 });
    await Promise.all(own.map(block));
  }
}
