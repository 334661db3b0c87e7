import { RowBinary } from '../../clickhouse/engine/row-binary.ts';
import type { Ring } from './find-rings.ts';
import { RING_METHOD_VERSION } from './pass-limits.ts';
import type { RingWindow } from './read-edges.ts';

const U64_BITS = 64n;
const U64_MASK = 2n ** U64_BITS - 1n;

interface Pass {
  readonly window: RingWindow;
  readonly gen: bigint;
  readonly rowsPerBuffer: number;
}

/** Rows of table `wallet_rings`, columns in the order of `WALLET_RING_COLUMNS`; one row for each wallet and ring of it. */
export function* encodeRings(
  byWallet: ReadonlyMap<string, readonly Ring[]>,
  pass: Pass,
): Generator<Uint8Array> {
  let out = new RowBinary();
  let rows = 0;
  for (const [wallet, rings] of byWallet) {
    for (const ring of rings) writeRow(out, wallet, ring, pass);
    rows += rings.length;
    if (rows < pass.rowsPerBuffer) continue;
    yield out.finish();
    out = new RowBinary();
    rows = 0;
  }
  if (rows > 0) yield out.finish();
}

function writeRow(out: RowBinary, wallet: string, ring: Ring, { window, gen }: Pass): void {
  out.string(wallet).u8(ring.members.length).u8(ring.members.length); // the column `length`, then the length of the array
  for (const member of ring.members) out.string(member);
  decimal128(out, ring.bottleneckUsdMicros);
  decimal128(out, ring.ringUsdMicros);
  out.dateTime(window.from).dateTime(window.to).string(RING_METHOD_VERSION).u64(gen);
}

/** Decimal(38, 6) is a 128-bit integer of millionths, low half first; the halves refuse what does not fit, negatives too. */
function decimal128(out: RowBinary, micros: bigint): void {
  out.u64(micros & U64_MASK).u64(micros >> U64_BITS);
}
