import type { Clock } from '../../core/clock.ts';
import type { PaymentConfig } from '../../core/config/config.ts';
import type { Log } from '../../core/log.ts';
import type { PaymentStore, ReplyStore } from '../accounts/store.ts';
import type { ChainWitness } from './chain-witness.ts';
import type { Facilitator } from './facilitator.ts';
import type { UptoSigners } from './upto-signers.ts';

/** What the steps of the x402 lane work with. */
export interface LaneTools {
  readonly config: Pick<PaymentConfig, 'accept' | 'offerSeconds' | 'settleTimeoutSeconds'>;
  readonly store: PaymentStore;
  /** Holds a ceiling for one call while that runs. */
  readonly running: Pick<ReplyStore, 'begin' | 'finish'>;
  readonly uptoSigners: UptoSigners;
  readonly facilitator: Facilitator;
  /** `noWitness` for a chain that we cannot ask. */
  readonly witnessFor: (chain: string) => ChainWitness;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: LaneLimits;
}

export interface LaneLimits {
  /** How long the chain is asked for a settlement that the facilitator claims or leaves open. */
  readonly witnessWaitMs: number;
  readonly witnessPollMs: number;
  /** How long an answer to a paid request may take before another call may answer it. */
  readonly servingLeaseMs: number;
  /** How often one payment may be answered when the answers do not arrive: a caller can make them look lost. */
  readonly servingAttemptsMax: number;
}

export const DEFAULT_LANE_LIMITS: LaneLimits = {
  witnessWaitMs: 6_000,
  witnessPollMs: 400,
  servingLeaseMs: 60_000,
  servingAttemptsMax: 5,
};

/** How long after its `validBefore` an authorization is taken for dead: block times and clocks lag behind each other. */
export const EXPIRY_MARGIN_MS = 5 * 60_000;
