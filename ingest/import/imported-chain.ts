import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql, text } from '../../clickhouse/engine/sql.ts';
import type { ChainConfig } from '../../core/config/chains.ts';
import type { Chain } from '../../core/domain/chains.ts';
import type { Log } from '../../core/log.ts';
import type { BlockSource } from '../chain/block-source.ts';
import type { ChainRun } from '../coordinate/index-chain.ts';
import { createChainStatus } from '../follow/chain-status.ts';
import { loadCounters } from '../follow/status-report.ts';
import { untilAcknowledged } from '../write/batch-writer.ts';

/** A chain without RPC URLs: its rows come from imports alone, and all that is done here is to say how far they reach. */
export function isImportedOnly({ rpcUrls }: Pick<ChainConfig, 'rpcUrls'>): boolean {
  return rpcUrls.length === 0;
}

export interface ImportedChainDeps {
  readonly config: ChainConfig;
  readonly writer: Writer;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const LOOK_EVERY_MS = 2_000;
const MAX_SECONDS = 10;
const NO_SOURCE: Pick<BlockSource, 'counters'> = {
  counters: () => ({ calls: 0, retries: 0, contradictions: 0, contradictedAtMs: 0 }),
};

export async function importedChain(deps: ImportedChainDeps): Promise<ChainRun> {
  const { config, writer, log, signal } = deps;
  const { chain } = config;
  const acknowledged = <T>(attempt: () => Promise<T>): Promise<T> => untilAcknowledged(log, signal, attempt);
  const status = createChainStatus(config, NO_SOURCE, await acknowledged(() => loadCounters(writer, chain)));
  const look = async (): Promise<void> => {
    for (;;) {
      status.imported(await acknowledged(() => readNewestRow(writer, chain)));
      await delay(LOOK_EVERY_MS, undefined, { signal });
    }
  };
  const done = look();
  // The caller awaits it together with other chains; until then a failure must not count as unhandled.
  done.catch(() => undefined);
  return { status, done };
}

/** Imports take final blocks only, so the newest row is of one. Null where nothing was imported yet. */
async function readNewestRow(
  writer: Writer,
  chain: Chain,
): Promise<{ readonly number: number; readonly time: number } | null> {
  const { rows } = await writer.rows({
    name: `newest-import ${chain}`,
    sql: sql`SELECT block_number, toUnixTimestamp(block_time) FROM settlements WHERE chain = ${text(chain)} AND del = 0
             ORDER BY block_time DESC LIMIT 1`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  const [newest] = rows;
  return newest === undefined ? null : { number: Number(newest[0]), time: Number(newest[1]) };
}
