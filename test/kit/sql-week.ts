import type { Writer } from '../../clickhouse/engine/engine.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  nameFacilitator,
  POLYGON,
  reportChain,
  settlement,
  wallet,
} from './rows.ts';

const ROWS = 600;
const MINUTES_BETWEEN = 17;

/** A week of payments between 23 payers and 11 payees on two chains, who sometimes pay each other back. */
export async function fillWeek(
  writer: Writer,
  amountOf = (at: number): bigint => 2n ** 200n + BigInt(at),
): Promise<void> {
  await reportChain(writer, BASE);
  await reportChain(writer, POLYGON);
  await nameFacilitator(writer, 'coinbase', 'Coinbase');
  const rows = Array.from({ length: ROWS }, (_, at) =>
    settlement({
      blockNumber: 100 + at,
      blockTime: NOON - at * MINUTES_BETWEEN * 60,
      logIndex: at % 9,
      chain: at % 5 === 0 ? POLYGON : BASE,
      payer: wallet(1_001 + (at % 23)),
      payee: wallet(at % 13 === 0 ? 1_001 + (at % 23) : 1_001 + (at % 11)),
      amount: amountOf(at),
      amountUsdMicros: BigInt((at % 37) * 130_000 + 1),
      facilitator: at % 3 === 0 ? '' : 'coinbase',
    }),
  );
  await insertSettlements(writer, rows);
}
