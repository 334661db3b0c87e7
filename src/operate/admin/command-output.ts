import type { Config } from '../../../core/config/config.ts';
import { UserError } from '../../../core/user-error.ts';
import type { ControlStore } from '../../accounts/store.ts';

/** What a command may use. */
export interface AdminDeps {
  readonly store: Pick<ControlStore, 'accounts' | 'units' | 'payments' | 'saved'>;
  readonly nowMs: number;
  readonly config: Pick<Config, 'bundles' | 'cursorSecrets' | 'dataDir'>;
}

/** The output of a command. */
export interface CommandOutput {
  /** With `--json`, on stdout; snake_case. */
  readonly json: Readonly<Record<string, unknown>>;
  /** Without it, on stdout. */
  readonly lines: readonly string[];
  /** On stderr, either way. */
  readonly asides?: readonly string[];
  /** True when the check failed: exit code 1. */
  readonly failed?: boolean;
}

/** Opens the store of the configuration, runs, prints, closes. */
export type RunAdmin = (work: (deps: AdminDeps) => Promise<CommandOutput>) => Promise<void>;

export function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

export function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : timeOf(ms);
}

/** Columns as wide as their widest cell. */
export function columns(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [head, ...rows];
  const widths = head.map((_name, at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  return all.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Reads a whole number of a command line, or throws `UserError` with the range. */
export function wholeNumber(
  name: string,
  text: string,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new UserError(`${name} takes a whole number from ${min} to ${max}, not "${text}".`);
}
