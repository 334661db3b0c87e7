import { bigintField, integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { type Sql, sql, text } from '../../../clickhouse/engine/sql.ts';
import type { Address } from '../../../core/domain/address.ts';
import { microsFromDecimal } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { EVIDENCE_METHODS, type EvidenceMethod } from '../../../core/domain/evidence.ts';
import type { Position, Settlement } from '../../../core/domain/settlement.ts';

/** What lists show of a settlement. */
export type ListedSettlement = Omit<Settlement, 'blockHash' | 'builderFacilitator' | 'builderApps'>;

/** A page as read. `nextBefore` is where the next one starts; undefined at the end of the list. */
export interface SettlementPage {
  readonly rows: readonly ListedSettlement[];
  readonly nextBefore: Position | undefined;
}

/** The columns behind `decodeSettlement`, in its order. Wide integers and decimals as text: they exceed a double. */
export const LISTED_COLUMNS: Sql = sql`toUnixTimestamp(block_time), chain, block_number, log_index,
  lower(hex(tx_hash)), lower(hex(payer)), lower(hex(payee)), lower(hex(asset)), asset_symbol, toString(amount),
  toString(amount_usd), lower(hex(relayer)), facilitator, toString(method), seen`;

const METHODS: ReadonlySet<string> = new Set(EVIDENCE_METHODS);

/** Every field by name: spreading the position into so large a literal costs 30 µs a row instead of 0.4 (V8's slow path). */
export function decodeSettlement(row: readonly unknown[]): ListedSettlement {
  const { blockTime, chain, blockNumber, logIndex } = decodePosition(row);
  return {
    blockTime,
    chain,
    blockNumber,
    logIndex,
    txHash: `0x${textField(row[4])}`,
    payer: addressField(row[5]),
    payee: addressField(row[6]),
    asset: addressField(row[7]),
    assetSymbol: textField(row[8]),
    amount: bigintField(row[9]),
    amountUsdMicros: microsFromDecimal(textField(row[10])),
    relayer: addressField(row[11]),
    facilitator: textField(row[12]),
    method: methodField(row[13]),
    seen: integerField(row[14]),
  };
}

/** The first four columns of every settlement list: its sort key. */
function decodePosition(row: readonly unknown[]): Position {
  return {
    blockTime: integerField(row[0]),
    chain: textField(row[1]) as Chain, // written by ingest from `Chain` values only
    blockNumber: integerField(row[2]),
    logIndex: integerField(row[3]),
  };
}

/** The engine gives 40 hex digits of a FixedString(20): an address by construction. */
function addressField(field: unknown): Address {
  return `0x${textField(field)}` as Address;
}

function methodField(field: unknown): EvidenceMethod {
  const method = textField(field);
  if (!METHODS.has(method)) throw new TypeError(`unknown evidence method ${method}`);
  return method as EvidenceMethod; // just checked
}

/** Below every real row of its second: lets a walk continue under a timestamp that was read to its end. */
export function floorOfSecond(blockTime: number): Position {
  return { blockTime, chain: 'eip155:0', blockNumber: 0, logIndex: 0 };
}

/** The condition for one chain, or none. `chain` is in the sort key, so it may be applied before versions are merged. */
export function onChain(chain: Chain | undefined): Sql[] {
  return chain === undefined ? [] : [sql`chain = ${text(chain)}`];
}
