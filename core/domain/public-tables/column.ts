import { EVIDENCE_METHODS, EVIDENCE_TIERS } from '../evidence.ts';
import { PAYMENT_SCHEMES, SETTLEMENT_KINDS } from '../settlement.ts';

/** What the declarations of the public tables are made of: types, and the columns that several tables have. */

export interface PublicColumn<Name extends string = string> {
  readonly name: Name;
  /** The engine's type, as `DESCRIBE` prints it. */
  readonly type: string;
  readonly meaning: string;
  /** The values that the column can have; absent if any text can occur. */
  readonly domain?: ColumnDomain;
  /** The column of addresses that it gives the ids of. */
  readonly idOf?: string;
}

/**
 * The possible values of a column: the sandbox warns when a query compares it with a constant that no row can have. A list is
 * complete; ids of `facilitator` are rows of the table `facilitators` and must be read from it.
 */
export type ColumnDomain = 'address' | 'tx_hash' | 'chain' | 'facilitator' | readonly string[];

export interface PublicTable {
  readonly meaning: string;
  /** Columns for which a constant in WHERE narrows the read, most effective first. */
  readonly cheapBy: readonly string[];
  readonly columns: readonly PublicColumn[];
  /** Absent: the table cannot be asked as of a snapshot. Otherwise the columns that a snapshot does not hold, which are NULL then. */
  readonly asOf?: { readonly leftOut: readonly string[] };
}

export const TEXT = 'String';
export const NAME = 'LowCardinality(String)';
export const TEXT_OR_NULL = 'Nullable(String)';
export const NAME_OR_NULL = 'LowCardinality(Nullable(String))';
export const TIME = "DateTime('UTC')";
export const USD = 'Decimal(38, 6)';
export const USD_OR_NULL = `Nullable(${USD})` as const;

export const column = <Name extends string>(
  name: Name,
  type: string,
  meaning: string,
  domain?: ColumnDomain,
): PublicColumn<Name> => ({ name, type, meaning, ...(domain === undefined ? {} : { domain }) });
export const addressColumn = <Name extends string>(name: Name, meaning: string, type = TEXT) =>
  column(name, type, meaning, 'address');

/** A wallet in 64 bits: joins and groups at a fraction of the cost of its address. */
export const walletId = <Name extends string>(name: Name, address: string): PublicColumn<Name> => ({
  ...column(name, 'UInt64', `Id of ${address}, the same in every table: groups and joins many times faster.`),
  idOf: address,
});

export const chain = column('chain', NAME, 'CAIP-2 name, such as eip155:8453.', 'chain');
export const blockNumber = column('block_number', 'UInt64', 'Height of the block.');
export const blockTime = column('block_time', TIME, 'Time of the block, UTC.');
export const txHash = column('tx_hash', TEXT, 'Hash of the transaction.', 'tx_hash');
export const logIndex = column('log_index', 'UInt32', 'Index in its block of the log that shows it.');
export const asset = addressColumn('asset', 'Address of the token.');
export const amount = column('amount', 'UInt256', 'Atomic units of the token.');
export const amountUsd = column(
  'amount_usd',
  USD_OR_NULL,
  'Dollars, exact to six decimals: the face value, or by a configured rate; NULL for a token of another currency without one, and for a token that is not listed.',
);
export const facilitator = column(
  'facilitator',
  NAME_OR_NULL,
  'Id of the named facilitator; NULL when none is known.',
  'facilitator',
);
export const evidenceTier = column(
  'evidence_tier',
  NAME,
  'proven, probable, unproven, not_x402 or ungraded.',
  EVIDENCE_TIERS,
);
export const evidenceProbability = column(
  'evidence_probability',
  'Nullable(Float64)',
  'Confidence that it is an x402 settlement, 0 to 1; NULL where nothing was examined.',
);
export const evidenceMethod = column(
  'evidence_method',
  NAME,
  'The rung of the evidence ladder.',
  EVIDENCE_METHODS,
);
export const evidenceReasons = column(
  'evidence_reasons',
  'Array(String)',
  'What the examination saw: [reasons](evidence.md).',
);
export const facilitatorName = column(
  'facilitator_name',
  NAME_OR_NULL,
  'Display name of the facilitator; its id when it has none, NULL when no facilitator is known.',
);
export const kind = column(
  'kind',
  NAME,
  'What the row is. Sum only payments: a deposit pays no seller.',
  SETTLEMENT_KINDS,
);
export const scheme = column(
  'scheme',
  NAME,
  'The x402 scheme whose form it has; evidence_tier says whether it was x402.',
  PAYMENT_SCHEMES,
);
export const channel = column(
  'channel',
  TEXT_OR_NULL,
  'Id of the payment channel or escrowed payment that it belongs to; NULL for none.',
);
export const feeAmount = column(
  'fee_amount',
  'UInt256',
  'The part of amount that went to a fee receiver, in atomic units of the token; 0 where the scheme has none.',
);
export const memo = column(
  'memo',
  TEXT_OR_NULL,
  'Solana: the note that the transaction carries, at most 566 bytes; a longer one ends in how many it has. NULL without one.',
);
export const assetSymbol = column('asset_symbol', NAME, 'Symbol of the token.');
export const assetDecimals = column(
  'asset_decimals',
  'Nullable(UInt8)',
  'Decimals of the token: `amount` divided by 10 to this power is a number of tokens. NULL for one that is not in the table tokens.',
);
export const relayer = addressColumn('relayer', 'Address that sent the transaction.');
export const isSelfPayment = column(
  'is_self_payment',
  'Bool',
  'Whether payer and payee are the same address.',
);
