import type { ColumnKind } from './footer.ts';

/**
 * The columns that an import reads, with the names that common tools give them. docs/import.md is generated from here.
 * Sources: cryo's datasets (crates/freeze/src/datasets of paradigmxyz/cryo), ethereum-etl's schemas and the BigQuery public
 * data sets made with it, Dune's raw tables, and plain JSON-RPC names.
 */

export type FileKind = 'logs' | 'transactions' | 'blocks';

export interface ColumnRule {
  /** In the order of preference: the first that a file has is read. */
  readonly names: readonly string[];
  readonly kinds: readonly ColumnKind[];
  readonly required: boolean;
  readonly meaning: string;
}

const bytes = ['bytes'] as const;
const integer = ['integer'] as const;
const time = ['integer', 'timestamp'] as const;

const need = (names: readonly string[], kinds: readonly ColumnKind[], meaning: string): ColumnRule => ({
  names,
  kinds,
  required: true,
  meaning,
});
const may = (names: readonly string[], kinds: readonly ColumnKind[], meaning: string): ColumnRule => ({
  names,
  kinds,
  required: false,
  meaning,
});

const BLOCK_NUMBER = need(['block_number', 'blockNumber'], integer, 'block');
const BLOCK_HASH = may(['block_hash', 'blockHash'], bytes, 'hash of the block');
const BLOCK_TIME = may(
  ['timestamp', 'block_timestamp', 'block_time', 'blockTimestamp'],
  time,
  'time of the block: Unix seconds, or a Parquet timestamp',
);
const CHAIN_ID = may(['chain_id', 'chainId'], integer, 'checked against the chain that is imported');

export const LOG_COLUMNS = {
  blockNumber: BLOCK_NUMBER,
  logIndex: need(['log_index', 'logIndex', 'index'], integer, 'index of the log in its block'),
  transactionHash: need(['transaction_hash', 'transactionHash', 'tx_hash'], bytes, 'transaction'),
  address: need(['address', 'contract_address'], bytes, 'contract that emitted it'),
  data: need(['data'], bytes, 'unindexed part of the event'),
  topic0: may(['topic0'], bytes, 'first topic; empty or null where there is none, as in the next three'),
  topic1: may(['topic1'], bytes, 'second topic'),
  topic2: may(['topic2'], bytes, 'third topic'),
  topic3: may(['topic3'], bytes, 'fourth topic'),
  topics: may(['topics'], ['list'], 'all topics in one list, instead of the four'),
  blockHash: BLOCK_HASH,
  blockTime: BLOCK_TIME,
  chainId: CHAIN_ID,
} as const satisfies Record<string, ColumnRule>;

export const TRANSACTION_COLUMNS = {
  blockNumber: BLOCK_NUMBER,
  transactionHash: need(['transaction_hash', 'hash', 'transactionHash', 'tx_hash'], bytes, 'hash'),
  from: need(['from_address', 'from'], bytes, 'sender'),
  to: need(['to_address', 'to'], bytes, 'recipient; empty or null where a contract is made'),
  input: need(['input', 'data'], bytes, 'calldata'),
  blockHash: BLOCK_HASH,
  blockTime: BLOCK_TIME,
  chainId: CHAIN_ID,
} as const satisfies Record<string, ColumnRule>;

export const BLOCK_COLUMNS = {
  blockNumber: need(['block_number', 'number', 'blockNumber'], integer, 'number'),
  blockHash: may(['block_hash', 'hash', 'blockHash'], bytes, 'hash'),
  blockTime: may(['timestamp', 'block_timestamp', 'time', 'block_time'], time, BLOCK_TIME.meaning),
  chainId: CHAIN_ID,
} as const satisfies Record<string, ColumnRule>;

export const COLUMNS: Readonly<Record<FileKind, Readonly<Record<string, ColumnRule>>>> = {
  logs: LOG_COLUMNS,
  transactions: TRANSACTION_COLUMNS,
  blocks: BLOCK_COLUMNS,
};

/** A column of one file. */
export interface FoundColumn {
  readonly name: string;
  readonly kind: ColumnKind;
}

export type FoundColumns = Readonly<Partial<Record<string, FoundColumn>>>;

/** How kinds are recognised: only logs have an index in the block; of the other two only transactions have a sender. */
export function kindOfColumns(columns: ReadonlyMap<string, ColumnKind>): FileKind | null {
  const has = ({ names }: ColumnRule): boolean => names.some((name) => columns.has(name));
  if (has(LOG_COLUMNS.logIndex) && has(LOG_COLUMNS.address)) return 'logs';
  if (has(TRANSACTION_COLUMNS.from)) return 'transactions';
  return has(BLOCK_COLUMNS.blockNumber) && (has(BLOCK_COLUMNS.blockTime) || has(BLOCK_COLUMNS.blockHash))
    ? 'blocks'
    : null;
}

/** The columns of a file of this kind, and the faults of them. */
export function findColumns(
  kind: FileKind,
  columns: ReadonlyMap<string, ColumnKind>,
): { readonly found: FoundColumns; readonly problems: string[] } {
  const found: Record<string, FoundColumn> = {};
  const problems: string[] = [];
  for (const [key, rule] of Object.entries(COLUMNS[kind])) {
    const name = rule.names.find((candidate) => columns.has(candidate));
    const type = name === undefined ? undefined : columns.get(name);
    if (name === undefined || type === undefined) {
      if (rule.required) problems.push(`has no column ${rule.names.join(' or ')}`);
    } else if (!rule.kinds.includes(type)) {
      problems.push(`column ${name} is of another type than ${rule.kinds.join(' or ')}`);
    } else found[key] = { name, kind: type };
  }
  if (kind === 'logs' && found['topic0'] === undefined && found['topics'] === undefined)
    problems.push('has neither column topic0 nor topics');
  return { found, problems };
}
