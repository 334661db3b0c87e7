import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config/config.ts';
import { type KeyDigest, lentKeyDigest } from '../../core/domain/caller.ts';
import type { Plan, PlanId } from '../../core/domain/plan.ts';
import type { Log } from '../../core/log.ts';
import { createTable } from '../accounts/memory-rates.ts';
import type { ControlStore } from '../accounts/store.ts';
import type { PaymentLane } from '../payment/payment-lane.ts';
import { type Admission, createAdmission } from './admission.ts';
import type { BearerTokens } from './bearer-token.ts';
import type { IdentityDeps } from './caller.ts';
import { CAPTURE_RETRY_MS } from './charge-units.ts';
import { KEY_LOOK_MS } from './key-watch.ts';
import { createRequestCounter, type RequestCounter } from './rate-limit.ts';
import type { UsageRecorder } from './usage.ts';

/** What the gate works with, for all calls of the process. */

export interface GateDeps {
  readonly store: Pick<ControlStore, 'accounts' | 'units' | 'rates' | 'replies'>;
  /** Null where no calls are sold. */
  readonly lane: PaymentLane | null;
  /** Null where no bearer tokens are accepted. */
  readonly bearer: BearerTokens | null;
  readonly plans: Readonly<Record<PlanId, Plan>>;
  /** `requestsPerMinute`: of an anonymous address. */
  readonly access: Config['access'] & { readonly requestsPerMinute: number };
  /** `console.visitorKey`; absent where the console lends none. */
  readonly visitorKey?: string | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Absent where nothing is recorded. */
  readonly usage?: UsageRecorder;
  /** In place of the product's own limits. */
  readonly limits?: GateLimits;
}

export interface GateLimits {
  readonly admission?: Admission;
  /** How long a capture is tried while the store does not answer. */
  readonly captureRetryMs?: number;
  /** Between two looks at the key of an open stream of events. */
  readonly keyLookMs?: number;
}

export type KnownNames = ReturnType<typeof createTable<KeyDigest, string>>;

export interface GateTools extends GateDeps {
  readonly admission: Admission;
  readonly captureRetryMs: number;
  readonly keyLookMs: number;
  readonly identity: IdentityDeps;
  readonly counter: RequestCounter;
  /** The organization that a key was last seen to belong to, by the digest of the key. */
  readonly knownNames: KnownNames;
}

/** A few hundred bytes each. */
const KNOWN_NAMES_MAX = 10_000;

export function createTools(deps: GateDeps): GateTools {
  const { store, bearer, plans, access, clock, limits } = deps;
  const { trialRequestsPerMinute, requestsPerMinute } = access;
  return {
    ...deps,
    admission: limits?.admission ?? createAdmission(),
    captureRetryMs: limits?.captureRetryMs ?? CAPTURE_RETRY_MS,
    keyLookMs: limits?.keyLookMs ?? KEY_LOOK_MS,
    identity: {
      accounts: store.accounts,
      bearer,
      plans,
      trialRequestsPerMinute,
      requestsPerMinute,
      publicKey: lentKeyDigest(deps.visitorKey),
      clock,
    },
    counter: createRequestCounter(store.rates, clock),
    knownNames: createTable<KeyDigest, string>(KNOWN_NAMES_MAX),
  };
}
