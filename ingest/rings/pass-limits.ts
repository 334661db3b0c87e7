import type { RingLimits } from './find-rings.ts';

/** What one pass looks at and keeps. Tests narrow it; docs/methodology.md tells the thresholds to readers. */
export interface PassLimits extends RingLimits {
  /** Closed UTC days, today excluded. */
  readonly windowDays: number;
  /** An edge counts from these on: a single payment back is a refund, and dust proves nothing. */
  readonly edgeUsdMicrosMin: bigint;
  readonly edgePaymentsMin: number;
  /** Edges read, strongest first. 200,000 take about 100 MB here. */
  readonly edgesMax: number;
  /** Bounds of the one statement that reads them. */
  readonly readMaxSeconds: number;
  /** Groups beyond this go to the engine's disk. */
  readonly readSpillBytes: number;
  /** Rows encoded into one buffer. */
  readonly rowsPerBuffer: number;
  /** From how many generations a pass takes its own: of two workers that begin in the same moment only so many in one meet. */
  readonly generationSpread: number;
}

export const PASS_LIMITS: PassLimits = {
  windowDays: 30,
  edgeUsdMicrosMin: 1_000_000n,
  edgePaymentsMin: 2,
  edgesMax: 200_000,
  readMaxSeconds: 300,
  readSpillBytes: 256 * 1024 * 1024,
  rowsPerBuffer: 10_000,
  generationSpread: 1_000_000,
  degreeMax: 64,
  ringsPerWalletMax: 16,
  stepsMax: 100_000_000,
  stepsPerTurn: 100_000,
};

/** Changes whenever the same payments could give other rings. */
export const RING_METHOD_VERSION = 'rings-1';
