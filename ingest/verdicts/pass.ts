import type { Writer } from '../../clickhouse/engine/engine.ts';
import { dateTime, sql, text, uint32, uint64 } from '../../clickhouse/engine/sql.ts';
import {
  LARGE_WALLET_REFUNDS,
  LARGE_WALLETS,
  VERDICT_PASSES,
  WALLET_VERDICTS,
} from '../../clickhouse/tables/generations.ts';
import type { Clock } from '../../core/clock.ts';
import { addressRanges } from '../../core/domain/account.ts';
import { METHOD_VERSION, NEWEST_ROWS_MAX, WHOLE_WALLET_ROWS_MAX } from '../../core/domain/data-quality.ts';
import type { Log } from '../../core/log.ts';
import { countRows, type DerivedTable, deriveIfChanged, runInTurn } from '../passes/derived-table.ts';
import { type Pass, restOf } from '../passes/repeat.ts';
import {
  floorsOfLarge,
  type LargeScan,
  type LargeWallet,
  refundsOfLarge,
  scanOfLarge,
  verdictsOfLarge,
  verdictsOfRange,
} from './statement.ts';

/** A hundred times what a pass took costs one per cent; soon again while a first backfill runs, and after the first search for rings. */
const REST = { perPass: 100, minMs: 5 * 60_000, maxMs: 60 * 60_000 } as const;

const LOOK_MAX_SECONDS = 60;
/** Chains that can be configured are a handful; imported ones may be others. */
const CHAINS_MAX = 1_000;

export interface VerdictLimits {
  /** Rows of wallet_rows judged in one statement, about: with as many counterparties they take some 400 MB, and groups above the spill go to disk. */
  readonly rowsPerStatement: number;
  readonly statementMaxSeconds: number;
  readonly spillBytes: number;
  /** Rows of a wallet above which it is judged by its newest ones. */
  readonly wholeRowsMax: number;
  readonly newestRowsMax: number;
  /** Far above what any chain has; the largest stay within a statement's length. */
  readonly largeWalletsMax: number;
}

export const VERDICT_LIMITS: VerdictLimits = {
  rowsPerStatement: 2_000_000,
  statementMaxSeconds: 300,
  spillBytes: 256 * 1024 * 1024,
  wholeRowsMax: WHOLE_WALLET_ROWS_MAX,
  newestRowsMax: NEWEST_ROWS_MAX,
  largeWalletsMax: 2_000,
};

export interface VerdictDeps {
  readonly writer: Writer;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly limits?: Partial<VerdictLimits>;
}

/** Judges every wallet after the start and then every hour, more often while passes are quick. */
export function verdictPasses(deps: Omit<VerdictDeps, 'signal'>): Pass {
  const { log } = deps;
  return {
    name: 'verdicts',
    failureText: 'wallets could not be judged; the verdicts of the last pass stay',
    restMs: restOf(REST),
    async run(signal) {
      const pass = await verdictPass({ ...deps, signal });
      if (pass === null) return 'current';
      log.info(pass, 'wallets judged');
      return 'done';
    },
  };
}

export interface VerdictPass {
  readonly gen: bigint;
  /** Rows: of a wallet in both roles two. */
  readonly verdicts: number;
  readonly largeWallets: number;
  readonly seconds: number;
}

const VERDICTS: DerivedTable = {
  name: 'verdicts',
  rows: [WALLET_VERDICTS, LARGE_WALLETS, LARGE_WALLET_REFUNDS],
  passes: VERDICT_PASSES,
};

/** One pass: judge all wallets, part by part. Null when nothing was written since the last one. */
export async function verdictPass({
  writer,
  clock,
  signal,
  ...deps
}: VerdictDeps): Promise<VerdictPass | null> {
  const limits = { ...VERDICT_LIMITS, ...deps.limits };
  const startedMs = performance.now();
  const nowMs = clock.nowMs();
  const judgedAt = Math.floor(nowMs / 1_000);
  const { ringGen, rows } = await readInput(writer);
  let [verdicts, largeWallets] = [0, 0];
  const gen = await deriveIfChanged(writer, VERDICTS, {
    fresh: BigInt(nowMs),
    // Besides the rule: every insert counts in hour_ver, and each search for rings has a generation.
    basis: {
      of: sql`concat(${text(METHOD_VERSION)}, ' ', toString((SELECT sum(writes) FROM hour_ver)), ' ', ${text(String(ringGen))})`,
    },
    async write(gen) {
      const part = { gen, judgedAt, ringGen };
      const large = await readLargeWallets(writer, limits);
      const scans = await readLargeScans(writer, large, limits);
      const statements = [
        ...addressRanges(digitsFor(rows, limits.rowsPerStatement)).map((range) =>
          verdictsOfRange(range, large, part),
        ),
        ...large.flatMap((wallet) => [verdictsOfLarge(wallet, part), refundsOfLarge(wallet, part)]),
        ...scans.flatMap((scan) => [scanOfLarge(scan, 'payee', part), scanOfLarge(scan, 'payer', part)]),
      ].map((statement) => ({
        name: 'verdicts-judge',
        maxSeconds: limits.statementMaxSeconds,
        settings: { max_threads: 1, max_bytes_before_external_group_by: limits.spillBytes },
        sql: statement,
      }));
      await runInTurn(writer, statements, signal);
      largeWallets = large.length;
      verdicts = await countRows(writer, WALLET_VERDICTS, gen);
      return {
        method_version: text(METHOD_VERSION),
        verdicts: uint64(verdicts),
        judged_at: dateTime(judgedAt),
      };
    },
  });
  if (typeof gen !== 'bigint') return null;
  return { gen, verdicts, largeWallets, seconds: Math.round(performance.now() - startedMs) / 1_000 };
}

/** Hex digits of an address that split all rows into statements of the wanted size. */
function digitsFor(rows: number, rowsPerStatement: number): number {
  let digits = 0;
  while (rows / 16 ** digits > rowsPerStatement && digits < 2) digits += 1;
  return digits;
}

/** The newest search for rings, and how many rows there are to judge. */
async function readInput(
  writer: Pick<Writer, 'rows'>,
): Promise<{ readonly ringGen: bigint; readonly rows: number }> {
  const { rows } = await writer.rows({
    name: 'verdicts-input',
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT (SELECT max(gen) FROM ring_passes), (SELECT count() FROM wallet_rows)`,
  });
  const [ringGen, count] = rows[0] ?? [];
  return { ringGen: BigInt(String(ringGen ?? 0)), rows: Number(count ?? 0) };
}

/** Wallets with more rows than are judged whole, and the time above which their newest rows lie: whole seconds, as a profile cuts them. */
async function readLargeWallets(
  writer: Pick<Writer, 'rows'>,
  { wholeRowsMax, newestRowsMax, largeWalletsMax, statementMaxSeconds }: VerdictLimits,
): Promise<LargeWallet[]> {
  const found = await writer.rows({
    name: 'verdicts-large-wallets',
    maxSeconds: statementMaxSeconds,
    maxRows: largeWalletsMax,
    settings: { max_threads: 1, optimize_aggregation_in_order: 1 },
    sql: sql`SELECT wallet FROM wallet_rows GROUP BY wallet HAVING count() > ${uint64(wholeRowsMax)}
      ORDER BY count() DESC LIMIT ${uint32(largeWalletsMax)}`,
  });
  const large: LargeWallet[] = [];
  for (const [field] of found.rows) {
    const wallet = String(field);
    const { rows } = await writer.rows({
      name: 'verdicts-floor',
      maxSeconds: LOOK_MAX_SECONDS,
      maxRows: 1,
      settings: { max_threads: 1 },
      sql: sql`SELECT toUnixTimestamp(block_time) FROM wallet_rows WHERE wallet = ${text(wallet)}
        ORDER BY wallet DESC, block_time DESC LIMIT 1 OFFSET ${uint32(newestRowsMax)}`,
    });
    large.push({ wallet, floor: Number(rows[0]?.[0] ?? 0) });
  }
  return large;
}

/** What profiles of these wallets are judged by, on each chain and on all together. */
async function readLargeScans(
  writer: Pick<Writer, 'rows'>,
  large: readonly LargeWallet[],
  { newestRowsMax, statementMaxSeconds }: VerdictLimits,
): Promise<LargeScan[]> {
  const scans: LargeScan[] = [];
  for (const { wallet } of large) {
    const { rows } = await writer.rows({
      name: 'verdicts-floors',
      maxSeconds: statementMaxSeconds,
      maxRows: CHAINS_MAX,
      settings: { max_threads: 1 },
      sql: floorsOfLarge(wallet, newestRowsMax),
    });
    scans.push(...rows.map(([chain, floor]) => ({ wallet, chain: String(chain), floor: Number(floor) })));
  }
  return scans;
}
