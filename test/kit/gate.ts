import { Type } from '@sinclair/typebox';
import type { SqlTierId } from '../../core/domain/plan.ts';
import { fail } from '../../core/errors.ts';
import type { GateRequest, Offers } from '../../src/gate/gate.ts';
import type { Outcome } from '../../src/operations/answer.ts';
import { type AnyOperation, defineOperation } from '../../src/operations/define.ts';
import type { CallContext, OperationDeps } from '../../src/operations/deps.ts';
import { PRICES, type PriceClass } from '../../src/operations/prices.ts';
import { register } from '../../src/operations/register.ts';
import type { PaymentLane, SettledCall } from '../../src/payment/payment-lane.ts';

/** An operation that only counts, at the price of a class; `bad=1` makes the request invalid. */
export function pricedOperation(
  priceClass: PriceClass,
  run: (input: unknown, deps: OperationDeps) => Promise<Record<string, unknown>> = async () => ({
    done: true,
  }),
): AnyOperation {
  const operation = defineOperation({
    id: 'countThings',
    wire: {
      path: '/things',
      params: {
        bad: {
          in: 'query',
          description: 'Whether the request is invalid.',
          required: false,
          schema: Type.String(),
          read: (raw: unknown) => {
            if (raw !== undefined)
              throw fail('invalid_parameter', { detail: 'bad is bad.', parameter: 'bad' });
            return undefined;
          },
        },
      },
      output: Type.Object({}),
      fails: [],
    },
    words: {
      summary: 'Things',
      description: 'Things',
      example: {},
    },
    money: { price: PRICES[priceClass] },
    run,
  });
  return register(operation);
}

/** An index that can be read. */
const UP = { ready: () => Promise.resolve() };

/** The marks that a request left on the way. */
export interface Trace {
  readonly events: string[];
}

/** What a test says of a request, without the groups of `GateRequest`. */
export interface RequestWish
  extends Partial<Omit<GateRequest, 'sender' | 'charging' | 'progress'>>,
    Partial<GateRequest['sender']>,
    Partial<GateRequest['charging']>,
    Partial<Omit<GateRequest['progress'], 'lane'>> {}

export function gateRequest(operation: AnyOperation, wish: RequestWish = {}): GateRequest & Trace {
  const events: string[] = [];
  const { offers } = wish;
  return {
    operation,
    surface: wish.surface ?? 'http',
    raw: wish.raw ?? (() => ({})),
    sender: {
      credentials: wish.credentials ?? {},
      address: wish.address ?? '203.0.113.9',
      hasLeft: wish.hasLeft ?? false,
      left: wish.left ?? (() => new AbortController().signal),
    },
    charging: {
      mayCharge: wish.mayCharge ?? true,
      idempotencyKey: wish.idempotencyKey,
      ...(offers === undefined ? {} : { offers }),
    },
    // The operations of these tests use nothing of it; whether the index can be read is asked before anything is paid.
    deps: wish.deps ?? ({ deployment: { chains: [] }, index: UP } as unknown as OperationDeps),
    progress: {
      onRate:
        wish.onRate ??
        (({ remaining }, tier) => events.push(`rate ${remaining}${tier === null ? '' : ` of ${tier}`}`)),
      onPaid: wish.onPaid ?? ((receipt) => events.push(`paid ${receipt}`)),
      onRun: wish.onRun ?? (() => events.push('run')),
      lane: null,
    },
    events,
  };
}

/** The offers for a request that carries `payment`. */
export function offersWith(payment?: string): Offers {
  return {
    payment,
    order: ({ price, byUse }) => ({
      resource: 'GET /v0/things',
      url: 'http://localhost/v0/things',
      description: 'Things',
      mimeType: 'application/json',
      priceUsdMicros: price.x402UsdMicros,
      settledByUse: byUse,
      binding: 'ab'.repeat(32),
    }),
  };
}

/** A lane that takes every payment and remembers what became of it. */
export function openHandedLane(): PaymentLane & {
  readonly finished: boolean[];
  /** Of those that were not answered: whether it was our fault. */
  readonly faults: boolean[];
  readonly taken: string[];
} {
  const finished: boolean[] = [];
  const faults: boolean[] = [];
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
    faults,
    taken,
    offer: () => ({ accepts: [{ scheme: 'exact' }], requiredHeader: 'b2ZmZXI=' }),
    recall: async () => null,
    take: async ({ order: { priceUsdMicros }, header, preflight, sale = null }) => {
      await preflight?.();
      taken.push(header);
      return {
        kind: 'settled',
        payment,
        usdMicros: priceUsdMicros,
        sale,
        receiptHeader: 'cmVjZWlwdA==',
        finish: async (answered, isOurFault = false) => {
          finished.push(answered);
          if (!answered) faults.push(isOurFault);
        },
      };
    },
  };
}

export interface UsageFacts {
  /** Units held, and what x402 asks for all of them. */
  readonly qu?: number;
  readonly tier?: SqlTierId | null;
  /** `explain`: free, whatever the tier. */
  readonly free?: boolean;
}

/** A repeatable operation that says what it used; `n` is any number, so that requests can differ. */
export function usageOperation(
  run: (context: CallContext) => Promise<Outcome>,
  { qu = 3, tier = 'standard', free = false }: UsageFacts = {},
  review: () => Promise<void> = () => Promise.resolve(),
  preflight: () => Promise<void> = () => Promise.resolve(),
): AnyOperation {
  const price = { ...PRICES.metered, qu, x402UsdMicros: BigInt(qu) * 10_000n };
  const operation = defineOperation({
    id: 'useThings',
    wire: {
      method: 'POST',
      path: '/used-things',
      params: {
        n: {
          in: 'body',
          description: 'Any number.',
          required: false,
          schema: Type.Number(),
          read: (raw: unknown) => raw,
        },
      },
      output: Type.Object({}),
      fails: [],
    },
    words: {
      summary: 'Things by use',
      description: 'Things by use',
      example: {},
    },
    money: { price, repeatable: true },
    terms: () => ({ price: free ? PRICES.free : price, byUse: !free, tier }),
    review,
    preflight,
    run: (_reviewed, _deps, context) => run(context),
  });
  return register(operation);
}

/** An outcome that shows what was charged for it, and remembers whether it was thrown away. */
export function usedOutcome(usedQu: number | null): Outcome & { discarded: boolean } {
  return {
    usedQu,
    discarded: false,
    answer: ({ heldQu, chargedQu, balance }) => ({ body: { heldQu, chargedQu, balance } }),
    discard() {
      this.discarded = true;
    },
  };
}
