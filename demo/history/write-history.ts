import { createWriter } from '../../clickhouse/engine/http-engine.ts';
import type { Config } from '../../core/config/config.ts';
import type { Log } from '../../core/log.ts';
import { decodeContextOf } from '../../ingest/decode/context.ts';
import { openGrading } from '../../ingest/import/grading.ts';
import { storeBatch } from '../../ingest/import/group.ts';
import { createBatchWriter } from '../../ingest/write/batch-writer.ts';
import { createVersions, highestVersion } from '../../ingest/write/versions.ts';
import { attachOrStartEngine } from '../../src/attach-engine.ts';
import { listSince } from './list-offers.ts';
import { blocksOf } from './sample-blocks.ts';
import type { SamplePayment } from './sample-payments.ts';
import { SAMPLE_DAYS, type SampleChain } from './sample-world.ts';

export interface ChainHistory {
  readonly chain: SampleChain;
  readonly payments: readonly SamplePayment[];
}

const DAY_SECONDS = 86_400;
/** A good insert, and a few megabytes of logs in memory. */
const PAYMENTS_PER_BATCH = 10_000;

/**
 * Brings the histories into the index of a running service by the way of imports: the same decoder, the published catalogue, the
 * same writer. Rollups then close their days by themselves. What is listed has been listed since the first of these days. `wrote` is
 * told rows so far.
 */
export async function writeHistory(
  deps: {
    readonly config: Config;
    readonly log: Log;
    readonly signal: AbortSignal;
    wrote(rows: number): void;
  },
  histories: readonly ChainHistory[],
  end: number,
): Promise<number> {
  const { config, log, signal, wrote } = deps;
  const engine = await attachOrStartEngine(config, log);
  const writer = createWriter(engine.access, log);
  let rows = 0;
  try {
    const versions = createVersions(await highestVersion(writer));
    const grading = await openGrading({ config, writer, versions, log, signal, dryRun: false });
    for (const { chain, payments } of histories) {
      const configured = config.chains.find(({ facts }) => facts.slug === chain.slug);
      if (configured === undefined) throw new Error(`${chain.slug} is not configured`);
      const context = decodeContextOf(configured, grading.catalogue());
      const batches = createBatchWriter({ chain: configured.chain, writer, versions, log, signal });
      for (const part of parts(payments)) {
        const counts = await storeBatch({ context, grading, batches }, blocksOf(chain, part, end));
        rows += counts.settlements;
        wrote(rows);
      }
    }
    await listSince({ config, writer, versions, log, signal }, end - SAMPLE_DAYS * DAY_SECONDS);
    return rows;
  } finally {
    await writer.close();
    await engine.stop();
  }
}

/** A block is never cut in two: its logs are numbered from 0. */
function* parts(payments: readonly SamplePayment[]): Generator<readonly SamplePayment[]> {
  for (let from = 0; from < payments.length; ) {
    let to = Math.min(from + PAYMENTS_PER_BATCH, payments.length);
    while (to < payments.length && isSameBlock(payments[to - 1], payments[to])) to++;
    yield payments.slice(from, to);
    from = to;
  }
}

/** Seconds that may share a block. */
const CLOSE_SECONDS = 2;

function isSameBlock(a: SamplePayment | undefined, b: SamplePayment | undefined): boolean {
  return a !== undefined && b !== undefined && b.time - a.time < CLOSE_SECONDS;
}
