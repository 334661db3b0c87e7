import { randomUUID } from 'node:crypto';
import { currentDatabaseOf } from '../../clickhouse/engine/databases.ts';
import { type EngineAccess, EngineError, type Guest } from '../../clickhouse/engine/engine.ts';
import { ENGINE_OUTPUT, EXACT_OUTPUT } from '../../clickhouse/engine/output.ts';
import { MEMORY_SHARES_MAX } from '../../clickhouse/guest/memory.ts';
import {
  GUEST_BLOCK_ROWS,
  GUEST_FULL_BLOCK_ROWS,
  GUEST_SECONDS_MAX,
  GUEST_THREADS_MAX,
  RESULT_MEMORY_MAX_BYTES,
  STANDARD_NULLS,
} from '../../clickhouse/guest/settings.ts';
import { SQL_DISK_BYTES } from '../../core/domain/plan.ts';
import type { Log } from '../../core/log.ts';

/**
 * Verifies the second wall: reads the guest's settings back, and tries statements that the engine must refuse. Otherwise a users file
 * that the engine ignores, or a remote engine whose operator granted the guest too much, would fail open (docs/design/sandbox.md).
 */

/** The guest has too many or too few rights. The message is for the operator. */
export class GuestUnfit extends Error {
  constructor(why: string) {
    super(`the guest user of the engine is not fit for callers’ SQL: ${why}`);
    this.name = 'GuestUnfit';
  }
}

export interface GuestFacts {
  readonly engineVersion: string;
  /** What every query may use: one share (clickhouse/guest/memory.ts). */
  readonly memoryBytes: number;
}

const CHECK_SECONDS = 5;
const NEVER = new AbortController().signal;

const EXACTLY: Readonly<Record<string, string | number>> = {
  readonly: 1,
  cancel_http_readonly_queries_on_client_close: 1,
  result_overflow_mode: 'throw',
  enable_lazy_columns_replication: 0,
  max_result_bytes: RESULT_MEMORY_MAX_BYTES,
  ...STANDARD_NULLS,
  ...EXACT_OUTPUT,
};
/** 0 means unlimited. */
const BOUNDED: Readonly<Record<string, number>> = {
  max_memory_usage: Number.MAX_SAFE_INTEGER,
  max_rows_to_read: Number.MAX_SAFE_INTEGER,
  max_temporary_data_on_disk_size_for_query: Number.MAX_SAFE_INTEGER,
  max_block_size: GUEST_BLOCK_ROWS,
};

/** Throws `GuestUnfit`, or `EngineError` if the engine does not answer or has no public tables yet. */
export async function checkGuest(
  guest: Guest,
  { database, cluster }: Pick<EngineAccess, 'database' | 'cluster'>,
): Promise<GuestFacts> {
  const facts = await checkSettings(guest);
  await guest.explain({
    name: 'guest-reads',
    text: 'SELECT 1 FROM settlements LIMIT 0',
    maxSeconds: CHECK_SECONDS,
  });
  if (cluster === undefined)
    await guest.explain({
      name: 'guest-reads-current',
      text: `SELECT 1 FROM ${currentDatabaseOf(database)}.settlements LIMIT 0`,
      maxSeconds: CHECK_SECONDS,
    });
  await checkChangeable(guest, facts);
  if (cluster !== undefined) await checkNodeLimit(guest);
  await mustBeRefused(
    guest,
    `SELECT count() FROM ${database}.settlements`,
    'it can read tables that are not public',
  );
  await mustBeRefused(guest, "SELECT 1 FROM file('guest-check', 'LineAsString')", 'it can read files');
  await mustBeRefused(guest, 'SELECT count() FROM system.processes', 'it can see the queries of others');
  return facts;
}

async function checkSettings(guest: Guest): Promise<GuestFacts> {
  const names = [...Object.keys(EXACTLY), ...Object.keys(BOUNDED)];
  const columns = names.map((name) => `toString(getSetting('${name}'))`);
  const [row] = await guest.explain({
    name: 'guest-settings',
    text: `SELECT version(), ${columns.join(', ')}`,
    maxSeconds: CHECK_SECONDS,
  });
  const [version, ...values] = row ?? [];
  for (const [at, name] of names.entries()) checkSetting(name, plain(String(values[at])));
  return { engineVersion: String(version), memoryBytes: Number(values[names.indexOf('max_memory_usage')]) };
}

/** Some switches are numbers, others are not. */
function plain(value: string): string {
  if (value === 'true') return '1';
  return value === 'false' ? '0' : value;
}

function checkSetting(name: string, value: string): void {
  const wanted = EXACTLY[name];
  if (wanted !== undefined && value !== String(wanted))
    throw new GuestUnfit(`its ${name} is ${value} and must be ${wanted}`);
  const max = BOUNDED[name];
  if (max !== undefined && (Number(value) < 1 || Number(value) > max))
    throw new GuestUnfit(`its ${name} is ${value} and must be bounded`);
}

/** Checks the settings that queries send: time and row limits, for some also other blocks, threads, memory or empty tables. */
async function checkChangeable(guest: Guest, { memoryBytes }: GuestFacts): Promise<void> {
  try {
    await guest.explain({
      name: 'guest-without-rows',
      text: 'SELECT 1 FROM settlements LIMIT 0',
      maxSeconds: CHECK_SECONDS,
      withoutRows: true,
      showScalars: true,
    });
    const { figures, body } = await guest.query(
      {
        name: 'guest-changeable',
        text: "SELECT number FROM numbers(2) SETTINGS session_timezone = 'UTC'",
        queryId: randomUUID(),
        format: 'CSV',
        maxRows: 1,
        blockRows: GUEST_FULL_BLOCK_ROWS,
        threads: GUEST_THREADS_MAX,
        memoryBytes: memoryBytes * MEMORY_SHARES_MAX,
        hasLongKeys: true,
        diskBytes: SQL_DISK_BYTES.deep,
        maxSeconds: GUEST_SECONDS_MAX,
        written: { settings: ENGINE_OUTPUT, compression: null },
      },
      NEVER,
    );
    body.resume();
    if (figures.resultRows !== 1) throw new GuestUnfit('limit does not bound its rows');
  } catch (error) {
    if (isRefusal(error))
      throw new GuestUnfit(
        'it may not send max_execution_time, limit, max_block_size, max_threads, max_memory_usage, max_bytes_before_external_group_by, max_bytes_before_external_sort, max_bytes_before_external_join, max_temporary_data_on_disk_size_for_query, additional_table_filters, enable_scalar_subquery_optimization, prefer_column_name_to_alias, session_timezone and the settings of output formats (docs/operators.md, the guest of a remote engine)',
      );
    throw error;
  }
}

/** Nodes ask each other with `limit = 0`. A profile that allows no 0 lets them, silently, and each gives as many rows as it allows at least. */
async function checkNodeLimit(guest: Guest): Promise<void> {
  const unlimited = {
    name: 'guest-node-limit',
    text: 'SELECT 1',
    queryId: randomUUID(),
    format: 'CSV',
    maxRows: 0,
    maxSeconds: CHECK_SECONDS,
  };
  try {
    const { body } = await guest.query(unlimited, NEVER);
    body.resume();
  } catch (error) {
    if (isRefusal(error))
      throw new GuestUnfit(
        'on a cluster it must be able to send limit = 0, or it would lose rows of other nodes (docs/operators.md, the guest of a remote engine)',
      );
    throw error;
  }
}

async function mustBeRefused(guest: Guest, text: string, otherwise: string): Promise<void> {
  try {
    await guest.explain({ name: 'guest-refused', text, maxSeconds: CHECK_SECONDS });
  } catch (error) {
    if (isRefusal(error)) return;
    throw error;
  }
  throw new GuestUnfit(otherwise);
}

/** ACCESS_DENIED, READONLY, SETTING_CONSTRAINT_VIOLATION. */
const REFUSALS = new Set([497, 164, 452]);

function isRefusal(error: unknown): boolean {
  return error instanceof EngineError && error.engineCode !== null && REFUSALS.has(error.engineCode);
}

/** Blocks judging and running until the guest has passed its check, and after an outage until it has passed again. */
export interface GuestGate {
  /** Rejects with `EngineError` while the check does not pass. */
  facts(): Promise<GuestFacts>;
  /** Runs `work` once the check has passed. After an outage another engine may answer, so the check is repeated. */
  pass<Result>(work: (facts: GuestFacts) => Promise<Result>): Promise<Result>;
}

export interface GuestGateDeps {
  check(): Promise<GuestFacts>;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  /** Between two checks while the check fails. */
  readonly retryAfterMs: number;
}

export function createGuestGate({ check, log, retryAfterMs }: GuestGateDeps): GuestGate {
  let passed: Promise<GuestFacts> | undefined;
  let said: string | undefined;
  const tell = (error: unknown): void => {
    const message = error instanceof Error ? error.message : String(error);
    if (message === said) return;
    said = message;
    if (error instanceof GuestUnfit) log.error({ err: error }, 'SQL of callers is not run');
    else log.warn({ err: error }, 'SQL of callers waits for the engine');
  };
  const attempt = async (): Promise<GuestFacts> => {
    try {
      const facts = await check();
      if (said !== undefined) log.info('SQL of callers is run again');
      said = undefined;
      return facts;
    } catch (error) {
      tell(error);
      setTimeout(forget, retryAfterMs).unref();
      throw new EngineError('unreachable', 'guest-check', null, error);
    }
  };
  const forget = (): void => {
    passed = undefined;
  };
  const facts = (): Promise<GuestFacts> => {
    passed ??= attempt();
    return passed;
  };
  return {
    facts,
    async pass(work) {
      const current = facts();
      const passedFacts = await current;
      try {
        return await work(passedFacts);
      } catch (error) {
        if (error instanceof EngineError && error.problem === 'unreachable' && passed === current) forget();
        throw error;
      }
    },
  };
}
