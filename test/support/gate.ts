import { Type } from '@sinclair/typebox';
import {
  type AnyOperation,
  defineOperation,
  erase,
  type OperationDeps,
} from '../../src/catalogue/operation.ts';
import { PRICES, type PriceClass } from '../../src/catalogue/prices.ts';
import { fail } from '../../src/errors.ts';
import type { GateRequest } from '../../src/gate/gate.ts';
import type { PaymentLane, SettledCall } from '../../src/payment/payment-lane.ts';

/** An operation that only counts, at the price of a class; `bad=1` makes the request invalid. */
export function pricedOperation(
  priceClass: PriceClass,
  run: () => Promise<Record<string, unknown>> = async () => ({ done: true }),
): AnyOperation {
  const operation = defineOperation({
    id: 'countThings',
    method: 'GET',
    path: '/things',
    summary: 'Things',
    description: 'Things',
    price: PRICES[priceClass],
    params: {
      bad: {
        in: 'query',
        description: 'Whether the request is invalid.',
        required: false,
        schema: Type.String(),
        read: (raw: unknown) => {
          if (raw !== undefined) throw fail('invalid_parameter', { detail: 'bad is bad.', parameter: 'bad' });
          return undefined;
        },
      },
    },
    output: Type.Object({}),
    fails: [],
    paging: 'none',
    caching: 'no-store',
    acceptsUnknownKey: false,
    example: {},
    run,
  });
  return erase(operation);
}

/** What a request told of itself on the way. */
export interface Trace {
  readonly events: string[];
}

export function gateRequest(operation: AnyOperation, over: Partial<GateRequest> = {}): GateRequest & Trace {
  const events: string[] = [];
  return {
    operation,
    raw: () => ({}),
    credentials: {},
    address: '203.0.113.9',
    surface: 'http',
    idempotencyKey: undefined,
    mayCharge: true,
    // The operations of these tests use nothing of it.
    deps: { chains: [] } as unknown as OperationDeps,
    onRate: ({ remaining }) => events.push(`rate ${remaining}`),
    onPaid: (receipt) => events.push(`paid ${receipt}`),
    onRun: () => events.push('run'),
    events,
    ...over,
  };
}

/** A shop window for a request that carries `payment`. */
export function shopWith(payment?: string): NonNullable<GateRequest['shop']> {
  return {
    payment,
    order: () => ({
      resource: 'GET /v0/things',
      url: 'http://localhost/v0/things',
      description: 'Things',
      mimeType: 'application/json',
      priceUsdMicros: 1_000n,
      settledByUse: false,
      binding: 'ab'.repeat(32),
    }),
  };
}

/** A lane that takes every payment and remembers what became of it. */
export function openHandedLane(): PaymentLane & { readonly finished: boolean[]; readonly taken: string[] } {
  const finished: boolean[] = [];
  const taken: string[] = [];
  const payment = {
    chain: 'eip155:8453',
    asset: '0x01',
    payer: '0x02',
    nonce: '0x03',
    transaction: '0x04',
  } as unknown as SettledCall['payment']; // only passed on
  return {
    finished,
    taken,
    offer: () => ({ accepts: [{ scheme: 'exact' }], requiredHeader: 'b2ZmZXI=' }),
    take: async (_order, headers) => {
      taken.push(headers.payment);
      return {
        kind: 'settled',
        payment,
        usdMicros: 1_000n,
        receiptHeader: 'cmVjZWlwdA==',
        finish: async (answered) => {
          finished.push(answered);
        },
      };
    },
  };
}
