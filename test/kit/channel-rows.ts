import type { Settlement } from '../../clickhouse/tables/settlements.ts';
import type { Hash } from '../../core/domain/account.ts';
import { NOON, settlement } from './rows.ts';

/** The rows of one payment channel, ten seconds and a block apart. `opened`: Unix seconds of the first. */
export function channelMoves(
  channel: Hash,
  parts: readonly Partial<Settlement>[],
  opened = NOON,
): Settlement[] {
  return parts.map((part, at) =>
    settlement({
      scheme: 'batch-settlement',
      channel,
      blockTime: opened + at * 10,
      blockNumber: 2_000 + ((opened - NOON) % 1_000_000) + at,
      logIndex: at,
      method: (part.kind ?? 'payment') === 'payment' ? 'builder_code' : 'channel_move',
      ...part,
    }),
  );
}

/** One of them, in a token of a dollar. */
export function moved(kind: Settlement['kind'], amount: bigint): Partial<Settlement> {
  return { kind, amount, amountUsdMicros: amount };
}
