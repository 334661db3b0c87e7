import { randomBytes, randomUUID } from 'node:crypto';
import { DEFAULT_PLANS } from '../../core/domain/plan.ts';
import { Failure } from '../../core/errors.ts';
import { createLog } from '../../core/log.ts';
import { walletOf } from '../../demo/chain/sender.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import { createGate } from '../../src/gate/call.ts';
import type { ChainConfirmer } from '../../src/payment/confirm.ts';
import { createHttpFacilitator } from '../../src/payment/facilitator.ts';
import { createFacilitatorSigners } from '../../src/payment/facilitator-signers.ts';
import { createPaymentLane, type PaymentLaneDeps } from '../../src/payment/lane.ts';
import { resolveUnsettled } from '../../src/payment/settle.ts';
import { permit2NonceId } from '../../src/payment/signed-payment.ts';
import { payCeiling } from './ceilings.ts';
import { gateRequest, offersWith, pricedOperation, usageOperation, usedOutcome } from './gate.ts';
import {
  jsonReply,
  type Script,
  type ScriptedFacilitator,
  startScriptedFacilitator,
} from './scripted-facilitator.ts';
import { acceptedOf, pay } from './x402-world.ts';

/** How a call is paid for: each of two wire versions at a fixed price, and a ceiling that is used by a third. */
export const PAID_BY = ['exact, version 1', 'exact, version 2', 'upto'] as const;
export type PaidBy = (typeof PAID_BY)[number];

/**
 * Paid calls through the real gate and the real x402 lane of two processes on one store. A ledger stands in place of the chain: the
 * facilitator settles into it, and the confirmer reads it. What a real chain makes of a payment is in test/src/payment.
 */
export interface MoneyWorld {
  readonly facilitator: ScriptedFacilitator;
  /** Settles into the ledger, whatever a test then lets the facilitator answer. */
  readonly settles: Script;
  /** Moves the clock of both processes. */
  wait(ms: number): void;
  /** A payment of a new payer for the call, signed as `by` says. */
  sign(by: PaidBy): Promise<string>;
  /** Sends a payment; `served`, or the code of the refusal. */
  send(payment: string, sent?: Sent): Promise<string>;
  /** What the sweeper does with claims whose outcome is not known. */
  sweep(): ReturnType<typeof resolveUnsettled>;
  /** The next record of a settlement in a process is lost, as if the process died before it. */
  loseRecords(process: 0 | 1): void;
  /** From now on the chain does not answer. */
  silenceChain(): void;
  /** Amounts that moved, in atomic units. */
  moved(): readonly string[];
  /** How often the facilitator was asked to settle. */
  asked(): number;
  close(): Promise<void>;
}

export interface Sent {
  /** Which of two processes. */
  readonly process?: 0 | 1;
  /** Whether the answer reached its caller. */
  readonly arrives?: boolean;
  /** Another request than the one that was paid for. */
  readonly isOther?: boolean;
  /** While the call runs: rejects where its process dies. */
  readonly during?: () => Promise<unknown>;
}

export const LEASE_MS = 60_000;
export const ATTEMPTS_MAX = 3;
const RELAYER = walletOf('money world relayer').address;
const ACCEPTED = acceptedOf('http://127.0.0.1:1', walletOf('money world merchant').address);

export async function openMoneyWorld(stores: readonly [ControlStore, ControlStore]): Promise<MoneyWorld> {
  const facilitator = await startScriptedFacilitator();
  const ledger = new Map<string, { readonly transaction: string; readonly amount: string }>();
  const settles = scriptLedger(facilitator, ledger);
  let aheadMs = 0;
  let isSilent = false;
  const deaf = [false, false];
  const clock = { nowMs: () => Date.now() + aheadMs };
  const log = createLog('silent', 'test');
  const confirmer: ChainConfirmer = {
    lookUp: async ({ id }) => {
      const found = ledger.get(id.nonce);
      if (isSilent) return { outcome: 'silent' };
      return found === undefined
        ? { outcome: 'unsettled' }
        : { outcome: 'settled', transaction: found.transaction };
    },
  };
  const http = createHttpFacilitator({ url: facilitator.url, headers: {}, settleTimeoutMs: 5_000 });
  const signers = createFacilitatorSigners({ facilitator: http, clock, log });
  await signers.refresh();
  const gates = stores.map((store, at) => {
    const payments: PaymentLaneDeps['store']['payments'] = {
      ...store.payments,
      recordSettlement: (settlement) =>
        deaf[at] === true
          ? Promise.reject(new Error('the process died'))
          : store.payments.recordSettlement(settlement),
    };
    const lane = createPaymentLane({
      config: { accept: [ACCEPTED], offerSeconds: 60, settleTimeoutSeconds: 10 },
      store: { payments, replies: store.replies },
      facilitator: http,
      signers,
      confirmerFor: () => confirmer,
      clock,
      log,
      limits: {
        confirmWaitMs: 20,
        confirmPollMs: 5,
        servingLeaseMs: LEASE_MS,
        servingAttemptsMax: ATTEMPTS_MAX,
      },
    });
    const access = {
      anonymous: 'priced',
      trialKeyDays: 1,
      trialRequestsPerMinute: 1,
      requestsPerMinute: 1_000_000,
    } as const;
    return createGate({ store, lane, bearer: null, plans: DEFAULT_PLANS, access, clock, log });
  });
  const schemeOf = new Map<string, PaidBy>();

  const call = async (by: PaidBy, payment: string | undefined, sent: Sent = {}) => {
    const { process = 0, isOther = false, during } = sent;
    const gate = gates[process];
    if (gate === undefined) throw new Error('there are two processes');
    const operation =
      by === 'upto'
        ? usageOperation(async () => {
            await during?.();
            return usedOutcome(1);
          })
        : pricedOperation('metered', async () => {
            await during?.();
            return {};
          });
    const { order } = offersWith();
    const offers = {
      payment,
      order: (terms: Parameters<typeof order>[0]) => ({
        ...order(terms),
        ...(isOther ? { binding: 'cd'.repeat(32) } : {}),
      }),
    };
    return gate.call(gateRequest(operation, { offers, address: randomUUID() }));
  };
  return {
    facilitator,
    settles,
    wait: (ms) => {
      aheadMs += ms;
    },
    async sign(by) {
      const refused = await call(by, undefined).catch((error: unknown) => error);
      const offer = refused instanceof Failure ? refused.context.offer : undefined;
      if (offer === undefined) throw new Error('the call is not sold', { cause: refused });
      const payer = walletOf(`payer ${randomUUID()}`);
      // A deadline far away, so that a test may let every lease of the payment lapse before it.
      const { header } =
        by === 'upto'
          ? await payCeiling(offer, payer, { signs: () => ({ maxTimeoutSeconds: 3_600 }) })
          : await pay(offer, payer, by === 'exact, version 1' ? 1 : 2, {
              authorization: { validBefore: String(Math.floor(clock.nowMs() / 1_000) + 3_600) },
            });
      schemeOf.set(header, by);
      return header;
    },
    async send(payment, sent = {}) {
      try {
        const { delivered } = await call(schemeOf.get(payment) ?? 'exact, version 1', payment, sent);
        await delivered?.(sent.arrives ?? true);
        return 'served';
      } catch (error) {
        return error instanceof Failure ? error.code : String(error);
      }
    },
    sweep: () => resolveUnsettled({ store: stores[1], confirmerFor: () => confirmer, clock, log }),
    loseRecords: (process) => {
      deaf[process] = true;
    },
    silenceChain: () => {
      isSilent = true;
    },
    moved: () => [...ledger.values()].map(({ amount }) => amount),
    asked: () => facilitator.calls.filter(({ path }) => path === '/settle').length,
    close: () => facilitator.stop(),
  };
}

interface SentToSettle {
  readonly paymentPayload: {
    readonly payload: {
      readonly authorization?: { readonly nonce: string };
      readonly permit2Authorization?: { readonly nonce: string };
    };
  };
  readonly paymentRequirements: {
    readonly network: string;
    readonly amount?: string;
    readonly maxAmountRequired?: string;
  };
}

/** As a facilitator on a chain: a nonce is good until it was used, and used once. */
function scriptLedger(
  facilitator: ScriptedFacilitator,
  ledger: Map<string, { readonly transaction: string; readonly amount: string }>,
): Script {
  const read = (body: string) => {
    const { paymentPayload, paymentRequirements } = JSON.parse(body) as SentToSettle; // sent by us
    const { authorization, permit2Authorization } = paymentPayload.payload;
    const nonce = authorization?.nonce ?? permit2NonceId(BigInt(permit2Authorization?.nonce ?? 0));
    const { network, amount, maxAmountRequired = '' } = paymentRequirements;
    return { nonce, network, amount: amount ?? maxAmountRequired };
  };
  facilitator.onVerify = ({ body }) =>
    jsonReply(
      ledger.has(read(body).nonce)
        ? { isValid: false, invalidReason: 'invalid_exact_evm_nonce_already_used' }
        : { isValid: true },
    );
  const settles: Script = ({ body }) => {
    const { nonce, network, amount } = read(body);
    if (ledger.has(nonce))
      return jsonReply({
        success: false,
        errorReason: 'invalid_exact_evm_nonce_already_used',
        transaction: '',
      });
    const transaction = `0x${randomBytes(32).toString('hex')}`;
    ledger.set(nonce, { transaction, amount });
    return jsonReply({ success: true, transaction, network });
  };
  facilitator.onSettle = settles;
  const extra = { facilitatorAddress: RELAYER };
  const kinds = [{ x402Version: 2, scheme: 'upto', network: ACCEPTED.chain, extra }];
  facilitator.onSupported = () => jsonReply({ kinds, signers: { 'eip155:*': [RELAYER] } });
  return settles;
}
