import type { EvidenceMethod } from './evidence.ts';
import { EVIDENCE_METHODS } from './evidence.ts';
import { SETTLEMENT_KINDS, type SettlementKind } from './settlement.ts';

/** What of a chain's payments a deployment has seen, as counts of a UTC day: the names of those counts, and how they are made. */

/** The date of the rules below and of the statement that counts by them. A change of either gets a new one. */
export const COVERAGE_METHOD = '2026-11-28';

/** The most days of one answer, today included. */
export const COVERAGE_DAYS_MAX = 90;

/** Why a log that concerns us did not become a row (clickhouse/tables/ingest-state.ts says what each means). */
export const DEAD_LETTER_REASONS = [
  'malformed_log',
  'unpaired_authorization',
  'unpaired_proxy',
  'unknown_channel',
  'amount_out_of_range',
  'unclear_transfer',
] as const;

/** How blocks reach a deployment. */
export const BLOCK_SOURCES = ['rpc', 'portal', 'import'] as const;
export type BlockSourceName = (typeof BLOCK_SOURCES)[number];

type CountOf<Name extends string> = `${Name}_count`;

function countsOf<Name extends string>(names: readonly Name[]): { readonly [N in Name]: CountOf<N> } {
  return Object.fromEntries(names.map((name) => [name, `${name}_count`])) as { [N in Name]: CountOf<N> }; // each by its own name
}

/** The column of each count in the table `coverage_days`. */
export const KIND_COLUMNS: { readonly [Kind in SettlementKind]: CountOf<Kind> } = countsOf(SETTLEMENT_KINDS);
export const METHOD_COLUMNS: { readonly [Method in EvidenceMethod]: CountOf<Method> } =
  countsOf(EVIDENCE_METHODS);
export const DEAD_LETTER_COLUMNS = countsOf(DEAD_LETTER_REASONS);
