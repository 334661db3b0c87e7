import {
  COVERAGE_METHOD,
  DEAD_LETTER_COLUMNS,
  DEAD_LETTER_REASONS,
  KIND_COLUMNS,
  METHOD_COLUMNS,
} from '../../../core/domain/coverage.ts';
import { EVIDENCE_METHODS, SEEN } from '../../../core/domain/evidence.ts';
import { KNOWN_CHAINS, OTHER_CHAIN_BLOCK_MS } from '../../../core/domain/known-chains.ts';
import { SETTLEMENT_KINDS } from '../../../core/domain/settlement.ts';
import { openProposalsText } from '../../tables/proposals.ts';
import type { ViewBody } from './body.ts';

/**
 * The coverage of a chain by UTC day, counted from the rows themselves: no rollup has kinds, methods and authorizations. A condition on `day`
 * reaches the sort key of `settlements`, so that only the rows of the days that were asked for are read.
 */

/** A count: of which rows of `settlements`, and of which dead letters. Absent: of none. */
interface Count {
  readonly name: string;
  readonly rows?: string | ((database: string) => string);
  readonly letters?: string;
}

const COUNTS: readonly Count[] = [
  { name: 'row_count', rows: '1' },
  { name: 'letter_count', letters: '1' },
  {
    name: 'authorization_count',
    rows: `bitAnd(seen, ${SEEN.authorization_used}) != 0`,
    letters: "reason = 'unpaired_authorization'",
  },
  ...SETTLEMENT_KINDS.map((kind) => ({ name: KIND_COLUMNS[kind], rows: `kind = '${kind}'` })),
  ...EVIDENCE_METHODS.map((method) => ({ name: METHOD_COLUMNS[method], rows: `method = '${method}'` })),
  { name: 'named_count', rows: "kind = 'payment' AND facilitator != ''" },
  {
    name: 'proposed_count',
    rows: (database) => `kind = 'payment' AND facilitator = ''
      AND (chain, relayer) IN (SELECT chain, address FROM ${database}proposed_relayers WHERE ${openProposalsText(database)})`,
  },
  { name: 'unknown_count', rows: "kind = 'payment' AND facilitator = ''" },
  ...DEAD_LETTER_REASONS.map((reason) => ({
    name: DEAD_LETTER_COLUMNS[reason],
    letters: `reason = '${reason}'`,
  })),
];
const countedFrom = (part: 'rows' | 'letters' | null, database = ''): string =>
  COUNTS.map((count) => {
    const given = part === null ? undefined : count[part];
    const condition = typeof given === 'function' ? given(database) : given;
    return `${condition === undefined ? 'toUInt64(0)' : `countIf(${condition})`} AS ${count.name}`;
  }).join(', ');

/** Blocks and times of the rows of a day: where its blocks are known to be. */
const ANCHORS = ['low_block', 'low_time', 'high_block', 'high_time'] as const;
const NO_ANCHORS = ANCHORS.map((name) => `toUInt64(0) AS ${name}`).join(', ');

/** Usual milliseconds between two blocks. */
const BLOCK_MS = `transform(toString(chain), [${KNOWN_CHAINS.map(({ chain }) => `'${chain}'`).join(', ')}], [${KNOWN_CHAINS.map(({ blockTimeMs }) => `toUInt32(${blockTimeMs})`).join(', ')}], toUInt32(${OTHER_CHAIN_BLOCK_MS}))`;
/** A day whose rows span less says too little of how fast its blocks came. */
const PACE_SECONDS_MIN = 3_600;
const DAY_SECONDS = 86_400;

/**
 * The rows of `from` with what ingest reported last of their chain, zeros where it did not, and the usual time between its blocks. As columns
 * of a subquery: the engine analyses an expression once for each use of its alias, which cost a second for this statement.
 */
const reported = (
  database: string,
  from: string,
): string => `(SELECT *, (SELECT CAST(mapFromArrays(groupArray(toString(chain)), groupArray((indexed_block, toUnixTimestamp(indexed_time), greatest(head_block, indexed_block), state = 'imported', toString(backfill_source)))), 'Map(String, Tuple(UInt64, UInt64, UInt64, UInt8, String))') FROM ${database}chain_status FINAL)[toString(chain)] AS report,
    toInt64(report.1) AS known_block, toInt64(report.2) AS known_time, toInt64(report.3) AS newest, report.4 AS is_imported, report.5 AS backfilled_from,
    ${BLOCK_MS} AS usual_ms
  FROM ${from})`;

/**
 * The ranges of blocks that were read, without overlaps. Only those for the set of contracts that was read last count: ranges that were read
 * for another one promise nothing (ingest/write/checkpoints.ts).
 */
const readRanges = (database: string): string => `(
    SELECT chain, min(range_start) AS from_block, max(range_end) AS to_block
    FROM (
      SELECT chain, range_start, range_end, sum(is_apart) OVER (PARTITION BY chain ORDER BY range_start, range_end) AS island
      FROM (
        SELECT chain, range_start, range_end, range_start > 1 + max(range_end) OVER (
          PARTITION BY chain ORDER BY range_start, range_end ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS is_apart
        FROM ${database}checkpoints FINAL
        WHERE del = 0 AND range_end >= range_start
          AND (chain, contracts) IN (SELECT chain, argMax(contracts, ver) FROM ${database}checkpoints GROUP BY chain)
      )
    ) GROUP BY chain, island
  )`;

/** When a block was made that no row of its day dates: counted back from the newest indexed block. */
const reckonedTime = (block: string): string =>
  `toDateTime(greatest(0, known_time - intDiv((known_block - toInt64(${block})) * usual_ms, 1000)), 'UTC')`;

/** The days that read blocks lie in. They have no counts: a day on which nothing was paid is a day, too. */
const readDays = (
  database: string,
): string => `SELECT chain, arrayJoin(arrayMap(at -> toDate(first_day + at), range(toUInt32(greatest(0, 1 + toInt32(last_day) - toInt32(first_day)))))) AS day,
    ${countedFrom(null)}, ${NO_ANCHORS}
  FROM (
    SELECT toString(chain) AS chain, toDate(${reckonedTime('from_block')}) AS first_day, toDate(${reckonedTime('to_block')}) AS last_day
    FROM ${reported(database, readRanges(database))} WHERE known_time > 0
  )`;

/** As a column holds it where there is none; callers' joins give NULL in its place. */
const NO_TIME = "toDateTime(0, 'UTC')";

const letterDays = (
  database: string,
): string => `SELECT letters.chain AS chain, toDate(if(ifNull(known.time, ${NO_TIME}) > ${NO_TIME}, assumeNotNull(known.time), letters.reckoned)) AS day,
    ${countedFrom('letters')}, ${NO_ANCHORS}
  FROM (
    SELECT toString(chain) AS chain, block_number, toString(reason) AS reason, ${reckonedTime('block_number')} AS reckoned
    FROM ${reported(database, `(SELECT chain, block_number, reason FROM ${database}dead_letters FINAL WHERE del = 0)`)}
  ) AS letters
  LEFT JOIN (
    SELECT toString(chain) AS chain, number, max(time) AS time FROM ${database}blocks FINAL
    WHERE (chain, number) IN (SELECT chain, block_number FROM ${database}dead_letters) GROUP BY chain, number
  ) AS known ON known.chain = letters.chain AND known.number = letters.block_number
  GROUP BY chain, day`;

/** Every day of every chain, with the counts and the blocks that lie in it. */
function coverageDays(database: string): string {
  const dayStart = "toUnixTimestamp(toDateTime(day, 'UTC'))";
  const pace = `if(high_time >= low_time + ${PACE_SECONDS_MIN} AND high_block > low_block, 1000 * (high_time - low_time) / (high_block - low_block), usual_ms)`;
  const blocksIn = (seconds: string): string => `toInt64(floor(1000 * (${seconds}) / block_ms))`;
  const counted = `(
      SELECT chain, day, ${COUNTS.map(({ name }) => `sum(${name}) AS ${name}`).join(', ')},
        ${ANCHORS.map((name) => `max(${name}) AS ${name}`).join(', ')}
      FROM (
        SELECT toString(chain) AS chain, toDate(block_time) AS day, ${countedFrom('rows', database)},
          min(block_number) AS low_block, toUInt64(toUnixTimestamp(min(block_time))) AS low_time,
          max(block_number) AS high_block, toUInt64(toUnixTimestamp(max(block_time))) AS high_time
        FROM ${database}settlements FINAL WHERE del = 0 GROUP BY chain, day
        UNION ALL
        ${letterDays(database)}
        UNION ALL
        ${readDays(database)}
      ) GROUP BY chain, day
    )`;
  // Each step is a subquery of its own: see `reported`.
  const paced = `(SELECT *, ${pace} AS block_ms, ${dayStart} AS day_start FROM ${reported(database, counted)})`;
  const placed = `(
    SELECT *, toUInt64(greatest(0, first_at)) AS first_block, toUInt64(greatest(0, first_at, last_at)) AS last_block
    FROM (
      SELECT *, if(row_count > 0, toInt64(low_block) - ${blocksIn('low_time - day_start')},
          known_block - ${blocksIn('known_time - day_start')}) AS first_at,
        least(if(newest = 0, toInt64(9223372036854775807), newest),
          if(row_count > 0, toInt64(high_block) + ${blocksIn(`day_start + ${DAY_SECONDS - 1} - high_time`)},
            known_block - ${blocksIn(`known_time - day_start - ${DAY_SECONDS}`)} - 1)) AS last_at
      FROM ${paced}
    )
  )`;
  return `(
  SELECT *, if(known_time = 0 AND row_count = 0, toUInt64(0), toUInt64(arraySum(one ->
      if(one.1 = chain AND one.3 >= first_block AND one.2 <= last_block,
        1 + least(one.3, last_block) - greatest(one.2, first_block), 0),
      (SELECT groupArray((toString(chain), from_block, to_block)) FROM ${readRanges(database)})))) AS in_read,
    (SELECT groupArray(toString(chain)) FROM (SELECT chain FROM ${database}checkpoints GROUP BY chain HAVING argMax(is_partial, ver) = 1)) AS partial_chains,
    arrayFilter(source -> source != '', arrayDistinct([
      multiIf(known_time = 0, '', is_imported = 1, 'import', 'rpc'), backfilled_from])) AS sources
  FROM ${placed}
  WHERE row_count + letter_count > 0 OR in_read > 0
)`;
}

/** A day without a recorded block has none that are known to be missing: its rows may be of an import without a record. */
const ifRead = (figure: string): string => `if(t.in_read = 0, NULL, ${figure})`;

/** Whether the ranges that count were read in part; like their contracts, by the range that was recorded last. */
const isPartial = 'has(t.partial_chains, t.chain)';

/**
 * Over the tables of all nodes: a day has rows on one node, and what ingest knows of it lies on another. `database`: a prefix of the tables.
 */
export function coverageDaysBody(database: string): ViewBody<'coverage_days'> {
  return {
    columns: {
      chain: "CAST(t.chain, 'LowCardinality(String)')",
      proposed_count: `if((SELECT count() FROM ${database}proposal_passes) = 0, NULL, t.proposed_count)`,
      first_block: ifRead('t.first_block'),
      last_block: ifRead('t.last_block'),
      indexed_blocks: ifRead(`if(${isPartial}, 0, t.in_read)`),
      partial_blocks: ifRead(`if(${isPartial}, t.in_read, 0)`),
      missing_blocks: ifRead('toUInt64(1 + t.last_block - t.first_block - t.in_read)'),
      method_version: `CAST('${COVERAGE_METHOD}', 'LowCardinality(String)')`,
    },
    from: `${coverageDays(database)} AS t`,
  };
}
