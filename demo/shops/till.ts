import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { systemClock } from '../../core/clock.ts';
import type { AcceptedPayment } from '../../core/config/access.ts';
import { isPayable } from '../../core/config/access.ts';
import type { Address } from '../../core/domain/account.ts';
import { knownChain } from '../../core/domain/networks.ts';
import type { Log } from '../../core/log.ts';
import { openControlStore } from '../../src/accounts/open.ts';
import { createHttpFacilitator } from '../../src/payment/facilitator.ts';
import { createFacilitatorSigners } from '../../src/payment/facilitator-signers.ts';
import { createPaymentLane } from '../../src/payment/lane.ts';
import { openConfirmers } from '../../src/payment/open-confirmers.ts';
import type { Order, PaymentLane } from '../../src/payment/payment-lane.ts';
import type { Good } from './goods.ts';

/**
 * How shops are paid: by the payment lane of the service itself, over a store of their own, so that a payment that settled is
 * answered once, also when its first answer was lost.
 */
export interface Till {
  laneOf(payTo: Address): PaymentLane;
  close(): Promise<void>;
}

export interface TillOptions {
  readonly rpcUrl: string;
  readonly facilitatorUrl: string;
  /** For the payments. Made when absent. */
  readonly dataDir: string;
  readonly log: Log;
}

const OFFER_SECONDS = 60;
/** Above the facilitator's own wait for a receipt. */
const SETTLE_TIMEOUT_SECONDS = 30;

export function openTill({ rpcUrl, facilitatorUrl, dataDir, log }: TillOptions): Till {
  mkdirSync(dataDir, { recursive: true });
  const store = openControlStore({ config: { dataDir, control: { redisUrl: null, keyPrefix: '' } }, log });
  const facilitator = createHttpFacilitator({
    url: facilitatorUrl,
    headers: {},
    settleTimeoutMs: SETTLE_TIMEOUT_SECONDS * 1_000,
  });
  const clock = systemClock;
  return {
    laneOf(payTo) {
      const accept = [acceptedOn(rpcUrl, payTo)];
      return createPaymentLane({
        config: { accept, offerSeconds: OFFER_SECONDS, settleTimeoutSeconds: SETTLE_TIMEOUT_SECONDS },
        store,
        facilitator,
        signers: createFacilitatorSigners({ facilitator, clock, log }),
        confirmerFor: openConfirmers({ accept, confirmOnChain: true }),
        clock,
        log,
      });
    },
    close: () => store.close(),
  };
}

function acceptedOn(rpcUrl: string, payTo: Address): AcceptedPayment {
  const facts = knownChain('base-sepolia');
  const token = facts?.tokens.find(isPayable);
  if (facts === undefined || token === undefined) throw new Error('Base Sepolia is built in');
  return { chain: facts.chain, slug: facts.slug, token, payTo, rpcUrls: [rpcUrl] };
}

export function orderFor({ path, description, price }: Good, url: URL): Order {
  return {
    resource: `GET ${path}`,
    url: url.href,
    description,
    mimeType: 'application/json',
    priceUsdMicros: price,
    settledByUse: false,
    binding: createHash('sha256').update(`GET ${url.pathname}${url.search}`).digest('hex'),
  };
}
