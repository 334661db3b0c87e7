import type { Clock } from '../../core/clock.ts';
import type { PaymentConfig } from '../../core/config/access.ts';
import type { Log } from '../../core/log.ts';
import type { ControlStore } from '../accounts/store.ts';
import type { ChainConfirmer } from './confirm.ts';
import type { Facilitator } from './facilitator.ts';
import type { UptoSigners } from './upto-signers.ts';

/** What the steps of the x402 lane work with. */
export interface LaneDeps {
  readonly config: Pick<PaymentConfig, 'accept' | 'offerSeconds' | 'settleTimeoutSeconds'>;
  /** `replies` hold a ceiling for one call while that runs. */
  readonly store: Pick<ControlStore, 'payments'> & {
    readonly replies: Pick<ControlStore['replies'], 'begin' | 'finish'>;
  };
  readonly facilitator: Facilitator;
  readonly uptoSigners: UptoSigners;
  /** `noConfirmer` for a chain that we cannot ask. */
  readonly confirmerFor: (chain: string) => ChainConfirmer;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: LaneLimits;
}

export interface LaneLimits {
  /** How long the chain is asked for a settlement that the facilitator claims or leaves open. */
  readonly confirmWaitMs: number;
  readonly confirmPollMs: number;
  /** How long an answer to a paid request may take before another call may answer it. */
  readonly servingLeaseMs: number;
  /** How often one payment may be answered when the answers do not arrive: a caller can make them look lost. */
  readonly servingAttemptsMax: number;
}

export const DEFAULT_LANE_LIMITS: LaneLimits = {
  confirmWaitMs: 6_000,
  confirmPollMs: 400,
  servingLeaseMs: 60_000,
  servingAttemptsMax: 5,
};
