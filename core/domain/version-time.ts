/**
 * Versions of written rows (`ver`, `gen`) are the clock in milliseconds times this (ingest/write/versions.ts). The rollup worker and
 * telemetry read the time back from them.
 */
export const VERSION_UNITS_PER_MS = 1_000_000n;

/** When a version was given, milliseconds since the Unix epoch. Ahead of the clock where the clock was set back. */
export function versionTimeMs(version: bigint): number {
  return Number(version / VERSION_UNITS_PER_MS);
}
