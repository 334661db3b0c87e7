import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config/config.ts';
import { lentKeyDigest } from '../core/domain/caller.ts';
import type { Log } from '../core/log.ts';
import { loadKeyIssueSecrets } from '../core/secret-file.ts';
import type { PaymentRecord } from './accounts/payment-store.ts';
import type { ControlStore } from './accounts/store.ts';
import { createSweeper, type Sweeper } from './accounts/sweeper.ts';
import { createBearerTokens } from './gate/bearer-token.ts';
import { createGate } from './gate/call.ts';
import type { Gate } from './gate/gate.ts';
import { createUsageRecorder, type UsageRecorder } from './gate/usage.ts';
import type { Accounts } from './operations/create-deps.ts';
import { createAccounts } from './organizations/accounts.ts';
import { createHttpFacilitator, type Facilitator } from './payment/facilitator.ts';
import { createFacilitatorSigners } from './payment/facilitator-signers.ts';
import { createPaymentLane, type PaymentLaneDeps } from './payment/lane.ts';
import { openConfirmers } from './payment/open-confirmers.ts';
import type { IsFaultyToken, PaymentLane, TermsOf } from './payment/payment-lane.ts';
import { resolveUnsettled } from './payment/settle.ts';

/** All that a call passes before its operation runs (credentials, limits, charging), built from the configuration. */
export interface Access {
  readonly store: ControlStore;
  readonly gate: Gate;
  readonly accounts: Accounts;
  /** To be flushed before the store closes. */
  readonly usage: UsageRecorder;
  /** Whether single calls can be bought over x402. */
  readonly sellsCalls: boolean;
  /** The terms of a call over x402; null where none is sold. */
  readonly termsOf: TermsOf | null;
  /** Not started. */
  readonly sweeper: Sweeper;
}

export interface AccessParts {
  readonly config: Pick<
    Config,
    'access' | 'console' | 'control' | 'cursorSecrets' | 'dataDir' | 'http' | 'oauth' | 'payment' | 'plans'
  >;
  readonly log: Log;
  readonly clock: Clock;
  /** Tokens that are not offered, because a payment in them cannot settle. */
  readonly isFaultyToken?: IsFaultyToken;
  /** Wraps the facilitator and the lane, for metrics and traces. */
  readonly observe?: {
    facilitator(facilitator: Facilitator): Facilitator;
    lane(lane: PaymentLane): PaymentLane;
  };
}

/** `store` is the caller's to close, after the API has answered its last request. */
export function openAccess(parts: AccessParts, store: ControlStore): Access {
  const { config, log, clock } = parts;
  const { payment, plans, access } = config;
  const confirmerFor = openConfirmers(payment);
  const settlements = { store, confirmerFor, clock, log };
  const { isFaultyToken = () => false } = parts;
  const lane = openLane(config, { ...settlements, isFaultyToken }, parts.observe);
  const { requestsPerMinute } = config.http;
  const { visitorKey } = config.console;
  let lastUnsettled: PaymentRecord | null = null;
  const bearer = createBearerTokens(config, clock);
  const usage = createUsageRecorder({ store: store.usage, clock, log });
  return {
    store,
    gate: createGate({
      store,
      lane: lane === null ? null : (parts.observe?.lane(lane) ?? lane),
      bearer,
      plans,
      access: { ...access, requestsPerMinute },
      visitorKey,
      clock,
      log,
      usage,
    }),
    usage,
    accounts: createAccounts({
      store,
      clock,
      flushUsage: () => usage.flush(),
      publicKey: lentKeyDigest(visitorKey),
      trialKeyDays: access.trialKeyDays,
      // Where nothing is sold no key is issued, and the data directory is left alone.
      secrets: lane === null ? [] : loadKeyIssueSecrets(config),
    }),
    sellsCalls: lane !== null,
    termsOf: lane === null ? null : lane.termsOf,
    // Payments that were begun are resolved also after the lane was taken out of the configuration.
    sweeper: createSweeper({
      store,
      plans,
      clock,
      log,
      resolvePayments: async (limit) => {
        const pass = await resolveUnsettled(settlements, limit, lastUnsettled);
        lastUnsettled = pass.next;
        return pass.settled + pass.dropped;
      },
    }),
  };
}

/** Null where no facilitator is configured. */
function openLane(
  { payment }: AccessParts['config'],
  parts: Omit<PaymentLaneDeps, 'config' | 'facilitator' | 'signers'>,
  observe: AccessParts['observe'],
): ReturnType<typeof createPaymentLane> | null {
  if (payment.facilitatorUrl === null) return null;
  const plain = createHttpFacilitator({
    url: payment.facilitatorUrl,
    headers: payment.facilitatorHeaders,
    settleTimeoutMs: payment.settleTimeoutSeconds * 1_000,
  });
  const facilitator = observe?.facilitator(plain) ?? plain;
  const signers = createFacilitatorSigners({ ...parts, facilitator });
  // Not awaited: ceilings are offered once it has answered.
  void signers.refresh();
  return createPaymentLane({ ...parts, config: payment, facilitator, signers });
}
