import { test as base, expect } from 'vitest';
import type { AcceptedPayment } from '../../core/config/access.ts';
import { PAYMENT_STAGES } from '../../core/domain/payment.ts';
import { ERRORS, Failure } from '../../core/errors.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import type { ChainConfirmer } from '../../src/payment/confirm.ts';
import { createHttpFacilitator } from '../../src/payment/facilitator.ts';
import { createFacilitatorSigners } from '../../src/payment/facilitator-signers.ts';
import { createPaymentLane } from '../../src/payment/lane.ts';
import { openConfirmers } from '../../src/payment/open-confirmers.ts';
import type { LaneLimits, PaymentLane } from '../../src/payment/payment-lane.ts';
import { ownTestStore } from './access.ts';
import { type ScriptedFacilitator, startScriptedFacilitator } from './scripted-facilitator.ts';
import { keepingLog, signatures, startX402World, type X402World } from './x402-world.ts';

/**
 * The x402 lane on a real chain, with a real facilitator and a real SQLite store. Between the lane and the facilitator stands a scripted
 * one, which is the real one until a test says otherwise, and is so again after it.
 */
export interface LaneStage<World extends LaneWorld = X402World> {
  readonly world: World;
  readonly between: ScriptedFacilitator;
  readonly control: ControlStore;
  /** A lane that has heard which ceilings its facilitator settles. */
  lane(options?: LaneOptions): Promise<PaymentLane>;
  /** The failure that the lane answers with; its code and its stage must give one advice whether to retry. */
  failureOf(call: Promise<unknown>): Promise<Failure>;
  /** Everything that was logged and every failure so far, in lower case, and what must not stand in it. */
  told(): { readonly text: string; readonly secrets: readonly string[] };
  /** How often the facilitator was asked on a path since the test began. */
  callsOf(path: '/verify' | '/settle'): number;
}

/** A chain with a facilitator on it, and what is accepted there. */
export interface LaneWorld {
  readonly accepted: AcceptedPayment;
  readonly facilitator: { readonly url: string };
}

export interface LaneOptions {
  readonly control?: ControlStore;
  readonly confirmer?: ChainConfirmer;
  readonly limits?: Partial<LaneLimits>;
  readonly timeoutMs?: number;
  readonly config?: Partial<Parameters<typeof createPaymentLane>[0]['config']>;
}

const SETTLE_TIMEOUT_MS = 8_000;

/** What a failure says of its payment. */
export function summaryOf({ code, context: { payment } }: Failure) {
  return { code, stage: payment?.stage, reason: payment?.reason };
}

/** Opens it. `close` ends what it started, and not the world. */
export async function openLaneStage<World extends LaneWorld>(
  world: World,
): Promise<{ readonly stage: LaneStage<World>; close(): Promise<void> }> {
  const between = await startScriptedFacilitator(world.facilitator.url);
  const { store: control, close } = ownTestStore();
  const { log, lines } = keepingLog();
  const failures: string[] = [];
  const clock = { nowMs: () => Date.now() };
  const stage: LaneStage<World> = {
    world,
    between,
    control,
    async lane({ control: store = control, confirmer, limits, timeoutMs = SETTLE_TIMEOUT_MS, config } = {}) {
      const timeouts = { verifyTimeoutMs: timeoutMs, settleTimeoutMs: timeoutMs };
      const facilitator = createHttpFacilitator({ url: between.url, headers: {}, ...timeouts });
      const signers = createFacilitatorSigners({ facilitator, clock, log });
      await signers.refresh();
      // A connection that the test before left hanging may have been tried first.
      if (signers.offered(world.accepted.chain) === null) await signers.refresh();
      const confirmers = openConfirmers({ accept: [world.accepted], confirmOnChain: true });
      return createPaymentLane({
        config: { accept: [world.accepted], offerSeconds: 60, settleTimeoutSeconds: 10, ...config },
        store,
        facilitator,
        signers,
        confirmerFor: confirmer === undefined ? confirmers : () => confirmer,
        clock,
        log,
        limits: { confirmWaitMs: 300, confirmPollMs: 20, ...limits },
      });
    },
    async failureOf(call) {
      const outcome = await call.then(
        () => 'went on',
        (error: unknown) => error,
      );
      if (!(outcome instanceof Failure)) throw new Error('no failure of the catalogue', { cause: outcome });
      const { code, context, message } = outcome;
      failures.push(JSON.stringify([message, context, String(context.cause)]));
      const stage = context.payment?.stage;
      if (stage === undefined) throw new Error(`${code} does not say its stage`);
      expect(PAYMENT_STAGES[stage].retryable).toBe(ERRORS[code].retryable);
      return outcome;
    },
    told: () => ({
      text: [...lines, ...failures].join('\n').toLowerCase(),
      secrets: [
        ...signatures,
        ...world.accepted.rpcUrls.map((url) => new URL(url).host),
        new URL(between.url).host,
      ].map((secret) => secret.toLowerCase()),
    }),
    callsOf: (path) => between.calls.filter((call) => call.path === path).length,
  };
  return {
    stage,
    async close() {
      await between.stop();
      await close();
    },
  };
}

export const test = base.extend<{ $file: { startedStage: LaneStage }; $test: { stage: LaneStage } }>({
  startedStage: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names that a fixture uses from the pattern
    async ({}, use) => {
      const world = await startX402World();
      const { stage, close } = await openLaneStage(world);
      await use(stage);
      await close();
      await world.stop();
    },
    { scope: 'file' },
  ],
  stage: async ({ startedStage }, use) => {
    await use(startedStage);
    await startedStage.between.reset();
  },
});
