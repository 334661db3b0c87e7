import { accountText, hashText, transactionText } from '../../../clickhouse/engine/account.ts';
import {
  addressField,
  bigintField,
  hashField,
  integerField,
  textField,
  transactionField,
} from '../../../clickhouse/engine/row-reader.ts';
import { type Sql, sql, uint32 } from '../../../clickhouse/engine/sql.ts';
import type { Attestation } from '../../../clickhouse/tables/registries.ts';
import type { AttestationKind } from '../../../core/domain/agent.ts';
import type { Chain } from '../../../core/domain/chains.ts';

/** What lists show of a log of the reputation or validation registry; texts as they were logged. */
export type AttestationRow = Omit<Attestation, 'blockHash'>;

/** The engine returns at most this much of a URI: a `data:` URI may hold a whole file. */
export const URI_READ_MAX_CHARS = 2_049;

/** The columns behind `decodeAttestation`, in its order: the sort key first. */
export const ATTESTATION_COLUMNS: Sql = sql`toUnixTimestamp(block_time), chain, block_number, log_index, ${transactionText('tx_hash')},
  toString(kind), toString(agent_id), ${accountText('author')}, ${accountText('client')}, toString(feedback_index), toString(value),
  value_decimals, tag1, tag2, endpoint, substringUTF8(uri, 1, ${uint32(URI_READ_MAX_CHARS)}), ${hashText('file_hash')},
  ${hashText('request_hash')}`;

export function decodeAttestation(row: readonly unknown[]): AttestationRow {
  return {
    blockTime: integerField(row[0]),
    chain: textField(row[1]) as Chain, // written by ingest from `Chain` values only
    blockNumber: integerField(row[2]),
    logIndex: integerField(row[3]),
    txHash: transactionField(row[4]),
    kind: textField(row[5]) as AttestationKind, // the column's enum
    agentId: bigintField(row[6]),
    author: addressField(row[7]),
    client: addressField(row[8]),
    feedbackIndex: bigintField(row[9]),
    value: bigintField(row[10]),
    valueDecimals: integerField(row[11]),
    tag1: textField(row[12]),
    tag2: textField(row[13]),
    endpoint: textField(row[14]),
    uri: textField(row[15]),
    fileHash: hashField(row[16]),
    requestHash: hashField(row[17]),
  };
}
