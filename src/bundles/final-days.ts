import { createHash } from 'node:crypto';
import type { Reader } from '../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../clickhouse/engine/row-reader.ts';
import { sql, text, uint64 } from '../../clickhouse/engine/sql.ts';
import type { PublicFacts } from '../../clickhouse/guest/views/facts.ts';
import type { Chain } from '../../core/domain/chains.ts';
import { type BundleTable, bundleColumns, dayAfter, dayOf } from './tables.ts';

/** Which days of a chain are final, and what tells that the rows of one may have changed. */

export interface FinalDays {
  /** Oldest first, without a gap; empty where none is final. */
  readonly days: readonly string[];
  readonly finalizedBlock: number;
}

/** How far a chain is indexed, as far as it decides which days are final. */
export interface ChainProgress {
  readonly finalizedBlock: number | null;
  readonly indexedBlock: number | null;
  readonly indexedTime: number | null;
  readonly backfillBlocksDone: number;
  readonly backfillBlocksTotal: number;
}

const MAX_SECONDS = 60;
/** A hundred years. */
const DAYS_MAX = 36_525;

/** The days, or why there are none. */
export async function finalDays(
  reader: Reader,
  chain: Chain,
  status: ChainProgress | undefined,
): Promise<FinalDays | { readonly reason: string }> {
  if (status === undefined) return { reason: 'nothing of it was indexed yet' };
  if (status.finalizedBlock === null) return { reason: 'it has not stated a final block' };
  if (status.backfillBlocksDone < status.backfillBlocksTotal)
    return { reason: 'older blocks are still being indexed, so its days are not whole' };
  const { finalizedBlock } = status;
  const [oldest, newest] = await finalTimes(reader, chain, status);
  if (oldest === 0 || newest === 0) return { reason: 'it has no final rows' };
  // The day in which the newest final block lies can still get rows.
  const end = dayOf(newest * 1_000);
  const days: string[] = [];
  for (let day = dayOf(oldest * 1_000); day < end && days.length < DAYS_MAX; day = dayAfter(day))
    days.push(day);
  return days.length === 0 ? { reason: 'no day of it is final' } : { days, finalizedBlock };
}

/**
 * Unix seconds of the oldest row, and of a block that is final and indexed with all before it: the newest of those that are remembered,
 * of the rows, or the newest indexed block where that is final. 0 for none.
 */
async function finalTimes(
  reader: Reader,
  chain: Chain,
  { finalizedBlock, indexedBlock, indexedTime }: ChainProgress,
): Promise<readonly [number, number]> {
  const of = text(chain);
  const block = uint64(finalizedBlock ?? 0);
  const { rows } = await reader.rows({
    name: 'bundle-final-days',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT
      (SELECT toUnixTimestamp(min(block_time)) FROM settlements WHERE chain = ${of}),
      (SELECT toUnixTimestamp(min(block_time)) FROM agent_attestations WHERE chain = ${of}),
      (SELECT toUnixTimestamp(max(block_time)) FROM settlements WHERE chain = ${of} AND block_number <= ${block}),
      (SELECT toUnixTimestamp(max(time)) FROM blocks WHERE chain = ${of} AND number <= ${block})`,
  });
  const [settled = 0, attested = 0, newestRow = 0, newestBlock = 0] = (rows[0] ?? []).map(secondsOf);
  const begun = [settled, attested].filter((time) => time > 0);
  const isIndexedFinal = indexedBlock !== null && finalizedBlock !== null && indexedBlock <= finalizedBlock;
  return [
    begun.length === 0 ? 0 : Math.min(...begun),
    Math.max(newestRow, newestBlock, isIndexedFinal ? (indexedTime ?? 0) : 0),
  ];
}

/** The minimum of nothing is 1970, or NULL. */
function secondsOf(field: unknown): number {
  return field === null ? 0 : integerField(field);
}

/** The newest catalogue that all rows follow, and whether rows are being regraded to a newer one. */
export async function cataloguePass(
  reader: Reader,
): Promise<{ readonly finished: number; readonly isUnderWay: boolean }> {
  const finished = sql`(SELECT pass FROM (SELECT * FROM regrade_progress FINAL) WHERE finished = 1)`;
  const { rows } = await reader.rows({
    name: 'bundle-catalogue-pass',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT (SELECT max(pass) FROM (SELECT * FROM regrade_progress FINAL) WHERE finished = 1),
      (SELECT countIf(pass NOT IN ${finished}) FROM catalogue_passes)`,
  });
  const [newest, open] = rows[0] ?? [];
  return { finished: secondsOf(newest), isUnderWay: integerField(open) > 0 };
}

/**
 * By day, a word that changes when rows of the day may have changed: with every insert that touched the day, with the names and
 * decimals that the views have as constants, and with the columns. Equal words: the rows are the same, and nothing is read.
 */
export interface Fingerprints {
  of(table: BundleTable, day: string): string;
}

export async function readFingerprints(
  reader: Reader,
  chain: Chain,
  facts: PublicFacts,
): Promise<Fingerprints> {
  const settlements = await writesByDay(reader);
  const attestations = await attestationsByDay(reader, chain);
  const constants = digest([[...facts.facilitatorNames], facts.tokens.map((token) => Object.values(token))]);
  return {
    of: (table, day) => {
      const writes = table === 'attestations' ? attestations : settlements;
      const columns = bundleColumns(table).map(({ name, type }) => [name, type]);
      return digest([columns, constants, writes.get(day) ?? '']);
    },
  };
}

function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);
}

async function writesByDay(reader: Reader): Promise<ReadonlyMap<string, string>> {
  const { rows } = await reader.rows({
    name: 'bundle-writes',
    maxSeconds: MAX_SECONDS,
    maxRows: DAYS_MAX,
    sql: sql`SELECT toString(toDate(hour)) AS day, toString(sum(writes)) FROM hour_ver GROUP BY day`,
  });
  return new Map(rows.map(([day, writes]) => [textField(day), textField(writes)]));
}

/** A revocation changes the feedback that it revokes, whatever its day. */
async function attestationsByDay(reader: Reader, chain: Chain): Promise<ReadonlyMap<string, string>> {
  const of = text(chain);
  const { rows } = await reader.rows({
    name: 'bundle-attestations',
    maxSeconds: MAX_SECONDS,
    maxRows: DAYS_MAX,
    sql: sql`SELECT toString(toDate(block_time)) AS day, concat(toString(count()), ' ', toString(sum(ver)), ' ',
      (SELECT concat(toString(count()), ' ', toString(sum(ver))) FROM feedback_revocations FINAL WHERE chain = ${of}))
      FROM agent_attestations FINAL WHERE chain = ${of} GROUP BY day`,
  });
  return new Map(rows.map(([day, writes]) => [textField(day), textField(writes)]));
}
