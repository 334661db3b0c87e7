import { type Address, getAddressEncoder } from '@solana/kit';
import type { SolanaLedger } from './ledger.ts';
import { LOOKUP_TABLE_PROGRAM } from './programs.ts';

/** Layout: kind u32, slot of deactivation u64, then 44 bytes that are zero in a table without an authority. */
const HEADER_BYTES = 56;
const IS_TABLE = 1;
const NEVER_DEACTIVATED = 2n ** 64n - 1n;
const DEACTIVATION_AT = 4;

/** Writes a lookup table into the chain, as if it had been there for long. */
export function installLookupTable(ledger: SolanaLedger, at: Address, addresses: readonly Address[]): void {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(IS_TABLE);
  header.writeBigUInt64LE(NEVER_DEACTIVATED, DEACTIVATION_AT);
  const encoder = getAddressEncoder();
  const data = Buffer.concat([
    header,
    ...addresses.map((address) => Uint8Array.from(encoder.encode(address))),
  ]);
  ledger.accounts.write(at, {
    owner: LOOKUP_TABLE_PROGRAM,
    lamports: ledger.accounts.rentExemption(data.length),
    data: Uint8Array.from(data),
    executable: false,
  });
}
