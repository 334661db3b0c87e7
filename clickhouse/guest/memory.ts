import { totalmem } from 'node:os';
import type { SqlTierId } from '../../core/domain/plan.ts';

/**
 * How much memory a caller's query gets, and when it goes on disk instead. A part of the engine's memory belongs to callers. Half of that
 * part is divided evenly among the queries that run at once, one share each; the other half is lent, share by share, more of it to
 * larger tiers. So no number of queries can exceed the part, and none gets less than a share (docs/design/sandbox.md).
 */

const MEBIBYTE = 1024 * 1024;

/** Of the machine's memory, for an embedded engine without a configured cap: the rest is for this program, Redis and the file cache. */
const MACHINE_SHARE = 1 / 2;
const ENGINE_MEGABYTES_MIN = 512;

/** Memory cap of the embedded engine in MiB; `configured`: null follows the machine, or the container that the program runs in. */
export function engineMegabytes(configured: number | null, machineBytes: number = memoryOfMachine()): number {
  return configured ?? Math.max(ENGINE_MEGABYTES_MIN, Math.floor((machineBytes * MACHINE_SHARE) / MEBIBYTE));
}

function memoryOfMachine(): number {
  // 0, or a number beyond every machine, where nothing constrains the process.
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** Queries that run at once on a machine with `cores`. */
export function queriesAtOnce(cores: number): number {
  return Math.max(2, cores);
}

/** Of the engine's memory: merges, ingest, reads of this program and caches need the rest. */
const CALLERS_SHARE = 0.6;
/** Of the callers' part; the other half is lent. */
const FIXED_SHARE = 1 / 2;
/** One share at most, so that freeing what a stopped query holds takes no longer than a KILL may. */
const SHARE_MAX_BYTES = 4_000_000_000;

/** One share: what every query may use. */
export function guestMemoryBytes(engineBytes: number, cores: number): number {
  const share = (engineBytes * CALLERS_SHARE * FIXED_SHARE) / queriesAtOnce(cores);
  return Math.floor(Math.min(SHARE_MAX_BYTES, share));
}

/** Shares of a query of each tier, where enough are not lent already. */
export const MEMORY_SHARES: Readonly<Record<SqlTierId, number>> = { standard: 2, extended: 3, deep: 4 };
export const MEMORY_SHARES_MAX = Math.max(...Object.values(MEMORY_SHARES));

/** One share of an engine of one's own, whose memory this program does not know: what the guest of docs/operators.md gets. */
export const REMOTE_MEMORY_BYTES = 1_000_000_000;
/**
 * For queries whose functions may process long values (sandbox/judge/work): memory bounds what one step of them can process, and the time
 * of that step is known for this much.
 */
export const GUEST_STEP_MEMORY_BYTES = 500_000_000;
/** The same for those that could not be stopped in time even then. */
export const GUEST_LITTLE_MEMORY_BYTES = 100_000_000;
/** The most that any query gets: functions whose time does not depend on how much it is run with all of it. */
export const GUEST_MEMORY_MAX_BYTES = SHARE_MAX_BYTES * MEMORY_SHARES_MAX;

/** A thread has hash tables and blocks of its own. */
const THREAD_BYTES_MIN = 100_000_000;

/** Threads that a query with so much memory can use. */
export function threadsWithin(memoryBytes: number, threads: number): number {
  return Math.max(1, Math.min(threads, Math.floor(memoryBytes / THREAD_BYTES_MIN)));
}

/**
 * Of a query's memory. A hash table grows fourfold at once, all of its 256 parts at nearly the same moment, so grouping must go on disk
 * before it has a fifth. The engine compares the first with what the whole query holds, the others with what sorting or joining holds.
 */
const SPILL_SHARES = {
  max_bytes_before_external_group_by: 1 / 5,
  max_bytes_before_external_sort: 1 / 3,
  max_bytes_before_external_join: 1 / 3,
} as const;

/**
 * The same for groups with keys of 64 characters and more: those take 108 bytes of a group beside its 64 in the table, so that a query that
 * holds this share grows to 0.95 of the limit at most. Ten million settlements by payer and payee are 1.5 GB in memory and take half of the time.
 */
const LONG_KEYS_SHARE = 0.45;

/** When a query with so much memory begins to write to disk. */
export function spillSettings(
  memoryBytes: number,
  hasLongKeys = false,
): Readonly<Record<keyof typeof SPILL_SHARES, number>> {
  const shares = hasLongKeys
    ? { ...SPILL_SHARES, max_bytes_before_external_group_by: LONG_KEYS_SHARE }
    : SPILL_SHARES;
  const bytesOf = (name: keyof typeof SPILL_SHARES): number => Math.floor(memoryBytes * shares[name]);
  return {
    max_bytes_before_external_group_by: bytesOf('max_bytes_before_external_group_by'),
    max_bytes_before_external_sort: bytesOf('max_bytes_before_external_sort'),
    max_bytes_before_external_join: bytesOf('max_bytes_before_external_join'),
  };
}
