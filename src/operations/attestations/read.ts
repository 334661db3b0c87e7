import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { allOf, type Sql, sql, text, texts, uint32, uint64s } from '../../../clickhouse/engine/sql.ts';
import type { Address } from '../../../core/domain/address.ts';
import type { Chain } from '../../../core/domain/chain.ts';
import type { AttestationKind } from '../../../core/domain/registry-event.ts';
import type { Position } from '../../../core/domain/settlement.ts';
import { ask } from '../read/ask.ts';
import { integerField, textField } from '../read/decode.ts';
import { isBelow } from '../settlements/feed.ts';
import { ATTESTATION_COLUMNS, type AttestationRow, decodeAttestation } from './row.ts';

/**
 * One page of the registries' feedback, responses, revocations and validations, newest first, in two steps. The first reads the
 * sort keys of rows that match, in the order of the table and without merging their versions, so it ends as soon as it has
 * enough; rare matches are found by the indexes. Whatever matches now is among them, because its newest version does. The second
 * merges the versions of these keys alone and keeps what still matches.
 */

export interface AttestationQuery {
  /** Rows wanted, 1 to 100. */
  readonly limit: number;
  readonly before: Position | undefined;
  /** At least one. */
  readonly chains: readonly Chain[];
  readonly agentId: bigint | undefined;
  /** Whose feedback it is, or is about. */
  readonly client: Address | undefined;
  /** Either tag, as it was logged. */
  readonly tag: string | undefined;
  readonly kind: AttestationKind | undefined;
}

interface AttestationPage {
  readonly rows: readonly AttestationRow[];
  /** Where the next page starts; undefined at the end of the list. */
  readonly nextBefore: Position | undefined;
}

export const ATTESTATIONS_RESOURCE = 'attestations';
const MAX_SECONDS = 10;
/** Versions that are not merged yet, and rows that matched once: a few more than the page wants. */
const SPARE_KEYS = 16;
const KEYS_GROWTH = 4;
const KEYS_MAX = 2_000;
/** Reached where long runs of rows were retracted or replaced: the page then ends early, with a cursor to go on from. */
const ROUNDS_MAX = 6;

export async function readAttestations(reader: Reader, query: AttestationQuery): Promise<AttestationPage> {
  const wanted = query.limit + 1;
  const rows: AttestationRow[] = [];
  let before = query.before;
  let keysWanted = wanted + SPARE_KEYS;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const keys = await readKeys(reader, query, before, keysWanted);
    rows.push(...(await readRows(reader, query, keys, wanted - rows.length)));
    if (rows.length === wanted) {
      const page = rows.slice(0, query.limit);
      return { rows: page, nextBefore: page.at(-1) };
    }
    if (keys.length < keysWanted) return { rows, nextBefore: undefined };
    before = keys.at(-1);
    keysWanted = Math.min(keysWanted * KEYS_GROWTH, KEYS_MAX);
  }
  return { rows, nextBefore: before };
}

/** The table whose order fits: by agent where one is asked for, else by time. */
function tableOf({ agentId }: AttestationQuery): Sql {
  return agentId === undefined ? sql`attestations` : sql`agent_attestations`;
}

/** Conditions on the sort key: they may be applied before versions are merged. */
function keyConditions({ chains, agentId }: AttestationQuery): Sql[] {
  const [only] = chains;
  return [
    // One chain by equality: only then may the engine read the rows behind it in their order.
    chains.length === 1 && only !== undefined ? sql`chain = ${text(only)}` : sql`chain IN ${texts(chains)}`,
    ...(agentId === undefined ? [] : [sql`agent_id = toUInt256(${text(String(agentId))})`]),
  ];
}

/** Newest first, spelled as the table is ordered where that is the same: an agent may have a million ratings. */
function orderOf({ chains, agentId }: AttestationQuery): Sql {
  return chains.length === 1 && agentId !== undefined
    ? sql`chain DESC, agent_id DESC, block_time DESC, block_number DESC, log_index DESC`
    : sql`block_time DESC, chain DESC, block_number DESC, log_index DESC`;
}

/** A reorg can put another log in the place of a row, so these hold for the newest version only. */
function rowConditions({ client, tag, kind }: AttestationQuery): Sql[] {
  return [
    sql`del = 0`,
    ...(client === undefined ? [] : [sql`client = toFixedString(unhex(${text(client.slice(2))}), 20)`]),
    ...(tag === undefined ? [] : [sql`has([tag1, tag2], ${text(tag)})`]),
    ...(kind === undefined ? [] : [sql`kind = ${text(kind)}`]),
  ];
}

/** Plain rows: over distinct ones the engine would read to the end of the table. */
async function readKeys(
  reader: Reader,
  query: AttestationQuery,
  before: Position | undefined,
  limit: number,
): Promise<Position[]> {
  const below = before === undefined ? [] : [isBelow(before)];
  const { rows } = await ask(reader, ATTESTATIONS_RESOURCE, {
    name: 'attestations-keys',
    maxSeconds: MAX_SECONDS,
    maxRows: limit,
    settings: { read_in_order_use_virtual_row: 1 },
    sql: sql`SELECT toUnixTimestamp(block_time), chain, block_number, log_index FROM ${tableOf(query)}
      WHERE ${allOf([...below, ...keyConditions(query), ...rowConditions(query)])}
      ORDER BY ${orderOf(query)} LIMIT ${uint32(limit)}`,
  });
  return rows.map((row) => ({
    blockTime: integerField(row[0]),
    chain: textField(row[1]) as Chain, // written by ingest from `Chain` values only
    blockNumber: integerField(row[2]),
    logIndex: integerField(row[3]),
  }));
}

async function readRows(
  reader: Reader,
  query: AttestationQuery,
  keys: readonly Position[],
  limit: number,
): Promise<AttestationRow[]> {
  if (keys.length === 0) return [];
  const among = [
    ...keyConditions(query),
    sql`(block_time, chain, block_number, log_index) IN ${positions(keys)}`,
  ];
  const { rows } = await ask(reader, ATTESTATIONS_RESOURCE, {
    name: 'attestations-rows',
    maxSeconds: MAX_SECONDS,
    maxRows: limit,
    settings: { do_not_merge_across_partitions_select_final: 1 },
    sql: sql`SELECT ${ATTESTATION_COLUMNS} FROM (SELECT * FROM ${tableOf(query)} FINAL WHERE ${allOf(among)})
      WHERE ${allOf(rowConditions(query))}
      ORDER BY block_time DESC, chain DESC, block_number DESC, log_index DESC LIMIT ${uint32(limit)}`,
  });
  return rows.map(decodeAttestation);
}

/** A set of sort keys that the engine looks up in the primary index. */
function positions(keys: readonly Position[]): Sql {
  const times = uint64s(keys.map(({ blockTime }) => blockTime));
  const chains = texts(keys.map(({ chain }) => chain));
  const numbers = uint64s(keys.map(({ blockNumber }) => blockNumber));
  const indexes = uint64s(keys.map(({ logIndex }) => logIndex));
  return sql`(SELECT toDateTime(key.1, 'UTC'), key.2, key.3, toUInt32(key.4)
    FROM (SELECT arrayJoin(arrayZip(${times}, ${chains}, ${numbers}, ${indexes})) AS key))`;
}
