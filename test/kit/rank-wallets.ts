import type { Writer } from '../../clickhouse/engine/engine.ts';
import type { Chain } from '../../core/domain/chains.ts';
import { WINDOWS, type Window } from '../../core/domain/window.ts';
import { rankingPass } from '../../ingest/rankings/pass.ts';
import { BASE, NOON, POLYGON } from './rows.ts';

/** Ranks the wallets of some windows, by default of all, as the worker does. */
export async function rankWallets(
  writer: Writer,
  {
    windows = WINDOWS,
    chains = [BASE, POLYGON],
    nowMs = NOON * 1_000,
    walletsMax,
    pairsPerRange,
  }: {
    readonly windows?: readonly Window[];
    readonly chains?: readonly Chain[];
    readonly nowMs?: number;
    readonly walletsMax?: number;
    readonly pairsPerRange?: number;
  } = {},
): Promise<void> {
  for (const window of windows)
    await rankingPass(writer, {
      window,
      chains,
      nowMs,
      ...(pairsPerRange === undefined ? {} : { pairsPerRange }),
      ...(walletsMax === undefined ? {} : { walletsMax }),
    });
}
