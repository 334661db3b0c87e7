import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { DEFAULT_PLANS } from '../../core/domain/plan.ts';
import { createLog } from '../../core/log.ts';
import { walletOf } from '../../demo/chain/sender.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import { createGate } from '../../src/gate/call.ts';
import type { GateAnswer, Offers } from '../../src/gate/gate.ts';
import type { CallTerms } from '../../src/operations/define.ts';
import type { OperationDeps } from '../../src/operations/deps.ts';
import { OPERATIONS } from '../../src/operations/index.ts';
import type { SavedContent } from '../../src/operations/saved/definition.ts';
import { createSavedQueries } from '../../src/organizations/saved-queries.ts';
import { noConfirmer } from '../../src/payment/confirm.ts';
import { createHttpFacilitator } from '../../src/payment/facilitator.ts';
import { createFacilitatorSigners } from '../../src/payment/facilitator-signers.ts';
import { createPaymentLane } from '../../src/payment/lane.ts';
import type { PaymentLane } from '../../src/payment/payment-lane.ts';
import { addKey, createOrganization } from './access.ts';
import { type TestClock, testClock } from './api.ts';
import { payCeiling } from './ceilings.ts';
import { gateRequest } from './gate.ts';
import { jsonReply, startScriptedFacilitator } from './scripted-facilitator.ts';
import { acceptedOf, pay } from './x402-world.ts';

/**
 * Saved queries that are sold through the real gate and the real x402 lane, over a store. The facilitator says that it settles whatever
 * it is given, no chain is asked, and every query has a kept result, so that no engine is needed.
 */
export interface SoldWorld {
  readonly clock: TestClock;
  /** An organization with units, a key and a handle. */
  author(): Promise<Seller>;
  save(
    query: SoldQuery,
    content?: Partial<SavedContent & { readonly visibility: 'public' | 'private' }>,
  ): Promise<void>;
  remove(query: SoldAddress): Promise<boolean>;
  /** Signs what a call of the query is offered for. */
  pay(address: SoldAddress, scheme?: 'exact' | 'upto'): Promise<string>;
  call(address: SoldAddress, sent?: SentCall): Promise<GateAnswer>;
  /** The facilitator answers nothing that can be read once: the outcome of that settlement is unknown until the next look. */
  loseNextSettlement(): void;
  close(): Promise<void>;
}

export interface Seller {
  readonly organizationId: string;
  readonly owner: string;
  readonly credentials: { readonly 'x-api-key': string };
}

export interface SoldAddress {
  readonly seller: Pick<Seller, 'organizationId' | 'owner'>;
  readonly slug: string;
}

export interface SoldQuery extends SoldAddress {
  readonly priceQu: number;
}

export interface SentCall {
  readonly payment?: string;
  readonly credentials?: Seller['credentials'];
  /** Which of two processes. */
  readonly process?: 0 | 1;
  readonly idempotencyKey?: string;
  /** Runs between the hold or the settlement and the answer. */
  readonly during?: () => Promise<void>;
}

/** Of a call whose process died: ceilings are signed for two minutes, so that a test may let it lapse often. */
export const SERVING_LEASE_MS = 10;

const FACILITATOR_ADDRESS = walletOf('sold world relayer').address;
const ACCEPTED = acceptedOf('http://127.0.0.1:1', walletOf('sold world merchant').address);

export async function openSoldWorld(stores: readonly [ControlStore, ControlStore]): Promise<SoldWorld> {
  const [store] = stores;
  const clock = testClock(Math.floor(Date.now() / 1_000));
  const log = createLog('silent', 'test');
  const fake = await startScriptedFacilitator();
  let isLost = false;
  fake.onVerify = () => jsonReply({ isValid: true });
  fake.onSettle = () => {
    if (isLost) {
      isLost = false;
      return 'reset';
    }
    return jsonReply({
      success: true,
      transaction: `0x${randomBytes(32).toString('hex')}`,
      network: ACCEPTED.chain,
    });
  };
  fake.onSupported = () =>
    jsonReply({
      kinds: [
        {
          x402Version: 2,
          scheme: 'upto',
          network: ACCEPTED.chain,
          extra: { facilitatorAddress: FACILITATOR_ADDRESS },
        },
      ],
      signers: { 'eip155:*': [FACILITATOR_ADDRESS] },
    });
  const facilitator = createHttpFacilitator({ url: fake.url, headers: {}, settleTimeoutMs: 5_000 });
  const signers = createFacilitatorSigners({ facilitator, clock, log });
  await signers.refresh();
  const lanes = stores.map((opened) =>
    createPaymentLane({
      config: { accept: [ACCEPTED], offerSeconds: 60, settleTimeoutSeconds: 10 },
      store: opened,
      facilitator,
      signers,
      confirmerFor: () => noConfirmer,
      clock,
      log,
      limits: { confirmWaitMs: 0, servingLeaseMs: SERVING_LEASE_MS },
    }),
  );
  const gates = stores.map((opened, at) =>
    createGate({
      store: opened,
      lane: lanes[at] ?? null,
      bearer: null,
      plans: DEFAULT_PLANS,
      access: {
        anonymous: 'priced',
        trialKeyDays: 30,
        trialRequestsPerMinute: 60,
        requestsPerMinute: 1_000_000,
      },
      clock,
      log,
    }),
  );
  const saved = createSavedQueries({ store, clock });
  const offersOf = (address: SoldAddress, payment?: string): Offers => ({
    payment,
    order: (terms) => orderOf(address, terms),
  });
  return {
    clock,
    author: async () => {
      const organizationId = await createOrganization(store, { units: 1_000_000 });
      const owner = `o${randomUUID().replaceAll('-', '').slice(0, 12)}`;
      await saved.claimHandle({ organizationId, handle: owner });
      return { organizationId, owner, credentials: { 'x-api-key': await addKey(store, { organizationId }) } };
    },
    save: async ({ seller, slug, priceQu }, { visibility = 'public', ...content } = {}) => {
      const settings = { visibility, hidesText: false, priceQu, refreshSeconds: null };
      await saved.save({ ...seller, slug, content: { ...CONTENT, ...content }, settings });
    },
    remove: ({ seller, slug }) => saved.remove({ organizationId: seller.organizationId, slug }),
    pay: async (address, scheme = 'exact') => {
      const payer = walletOf(`payer ${randomUUID()}`);
      const offer = await offered(address);
      const sent = scheme === 'exact' ? await pay(offer, payer, 2) : await payCeiling(offer, payer);
      return sent.header;
    },
    call,
    loseNextSettlement: () => {
      isLost = true;
    },
    close: () => fake.stop(),
  };

  async function offered(address: SoldAddress) {
    const refused = await call(address).then(
      () => null,
      (error: unknown) =>
        error as { readonly context?: { readonly offer?: ReturnType<PaymentLane['offer']> } },
    );
    const offer = refused?.context?.offer;
    if (offer === undefined) throw new Error('the call is not sold', { cause: refused });
    return offer;
  }

  function call(address: SoldAddress, sent: SentCall = {}): Promise<GateAnswer> {
    const { payment, credentials = {}, process = 0, during } = sent;
    const gate = gates[process];
    const [opened] = [stores[process]];
    if (gate === undefined || opened === undefined) throw new Error('there are two processes');
    return gate.call(
      gateRequest(OPERATION, {
        raw: () => ({ owner: address.seller.owner, slug: address.slug }),
        credentials,
        address: '203.0.113.9',
        idempotencyKey: sent.idempotencyKey,
        offers: offersOf(address, payment),
        deps: depsOver(opened, clock, during),
      }),
    );
  }
}

const CONTENT: SavedContent = {
  title: '',
  description: '',
  sql: 'SELECT 1',
  parameters: [],
  tier: 'standard',
  maxQu: 1,
  maxRows: 100,
  freshnessSeconds: 300,
};

function callSaved() {
  const found = OPERATIONS.find(({ id }) => id === 'callSavedQuery');
  if (found === undefined) throw new Error('saved queries are called');
  return found;
}
const OPERATION = callSaved();

function orderOf({ seller: { owner }, slug }: SoldAddress, { price, byUse }: CallTerms) {
  const url = `https://api.example/v0/q/${owner}/${slug}`;
  return {
    resource: 'GET /v0/q/{owner}/{slug}',
    url,
    description: 'A saved query',
    mimeType: 'application/json',
    priceUsdMicros: price.x402UsdMicros,
    settledByUse: byUse,
    binding: createHash('sha256').update(url).digest('hex'),
  };
}

/** Organizations that paid for the kept result, or were answered with it. */
const readers = new Set<string>();

/** Of a call: saved queries of the store, and a kept result for each text, whose answer says which text it is of. */
function depsOver(
  store: ControlStore,
  clock: TestClock,
  during: (() => Promise<void>) | undefined,
): OperationDeps {
  const results = {
    recent: async () => ({ id: 'kept', rows: 1, isKept: true }),
    mayRead: async (_kept: unknown, organizationId: string) => readers.has(organizationId),
    allow: async (_kept: unknown, organizationId: string) => {
      const isNew = !readers.has(organizationId);
      readers.add(organizationId);
      return isNew;
    },
  };
  const answers = {
    printed: new Map([...Array(10).keys()].map((n) => [`SELECT ${n}`, `SELECT ${n}`])),
    read: async (_kept: unknown, query: { readonly version: number; readonly content: SavedContent }) => {
      await during?.();
      const body = { version: query.version, sql: query.content.sql };
      return { rows: 1, answer: () => ({ body }), discard: () => undefined };
    },
  };
  return {
    deployment: { chains: [], publicUrl: '' },
    accounts: { saved: createSavedQueries({ store, clock }) },
    sql: { openTo: () => 'everyone' },
    kept: { results, answers },
  } as unknown as OperationDeps; // what calls of kept results use
}
