import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';
import { keyDigest, mintApiKey } from '../../core/domain/caller.ts';
import type { Wallet } from '../../demo/chain/sender.ts';
import type { Random } from '../../demo/random.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import type { Ear, Heard } from './answers.ts';

/**
 * Who buys while the faults happen, each in its own way:
 * - on units, asking once: a good answer was charged, a refusal was not, and no answer may be either;
 * - on units with an Idempotency-Key, asking until it is answered: charged exactly once;
 * - over x402, sending one payment until it is answered: settled exactly once, or never when it was refused.
 */

/** The facts that one caller is sure of when it has finished. */
export type Account =
  | {
      readonly kind: 'units';
      readonly organizationId: string;
      readonly good: number;
      readonly unknown: number;
    }
  | { readonly kind: 'repeated'; readonly organizationId: string; readonly charged: 0 | 1 | 'unknown' }
  | { readonly kind: 'paid'; readonly payer: Wallet; readonly served: boolean };

/** An organization with units and a key. */
export interface Customer {
  readonly organizationId: string;
  readonly key: string;
}

export interface CallerDeps {
  readonly ear: Ear;
  readonly random: Random;
  readonly patience: Patience;
}

/**
 * How long callers ask again. An API that is killed leaves keys and payments behind that it was working on, and those are free again
 * only when it is taken for dead, after two minutes; a short run cannot wait for that.
 */
export interface Patience {
  readonly ms: number;
  /** Whether a caller that has no answer by then has found a fault. */
  readonly mustBeAnswered: boolean;
}

/** Metered: one unit, or a payment. */
const GRAPH = '/v0/graph?window=1000&max_edges=10';
const UNITS = 100;
/** Between two attempts of one who has not been answered. */
const PAUSE_MS = 300;

/** Makes one call after another until it `isOver`, which gets the number of good ones. */
export async function callOnUnits(
  { ear, random }: CallerDeps,
  { organizationId, key }: Customer,
  isOver: (good: number) => boolean,
): Promise<Account> {
  let [good, unknown] = [0, 0];
  while (!isOver(good) && good + unknown < UNITS) {
    const heard = await ear.ask(GRAPH, { headers: { 'x-api-key': key } });
    if (isUnsure(heard)) unknown += 1;
    else if (heard?.code === null) good += 1;
    await sleep(random.below(PAUSE_MS));
  }
  return { kind: 'units', organizationId, good, unknown };
}

/** No answer, or one that could not be given because the store did not say whether it had charged for it (docs/access.md). */
function isUnsure(heard: Heard | null): boolean {
  return heard === null || (heard.status === 503 && heard.resource === 'accounts');
}

/** One query under one Idempotency-Key. */
export async function callRepeatedly(
  { ear, patience }: CallerDeps,
  { organizationId, key }: Customer,
): Promise<Account> {
  const init = {
    method: 'POST',
    headers: { 'x-api-key': key, 'idempotency-key': randomUUID(), 'content-type': 'application/json' },
    body: JSON.stringify({ sql: 'SELECT count() FROM settlements' }),
  };
  const last = await untilAnswered(patience, () => ear.ask('/v0/sql', init));
  if (last === null) return { kind: 'repeated', organizationId, charged: 'unknown' };
  // `reply_not_kept`: the answer was lost with the process that had it; the charge was not.
  const charged = last.code === null || last.code === 'reply_not_kept' ? 1 : 0;
  return { kind: 'repeated', organizationId, charged };
}

/** One call for one payment, which the protocol's own client signs. */
export async function callForMoney({ ear, patience }: CallerDeps, payer: Wallet): Promise<Account> {
  const client = registerExactEvmScheme(new x402Client(), { signer: privateKeyToAccount(payer.privateKey) });
  const buy = wrapFetchWithPayment(async (input, init) => {
    const payment = new Request(input, init).headers.get('PAYMENT-SIGNATURE');
    const heard = await (payment === null
      ? untilAnswered(patience, () => ear.ask(GRAPH), new Set(['payment_required']))
      : untilAnswered(patience, () => ear.ask(GRAPH, { headers: { 'PAYMENT-SIGNATURE': payment } })));
    if (heard === null) return Response.json({}, { status: 504 });
    const offer = heard.headers.get('payment-required');
    const headers: Record<string, string> = offer === null ? {} : { 'payment-required': offer };
    return Response.json(heard.body, { status: heard.status, headers });
  }, client);
  const { ok } = await buy(`http://any.example${GRAPH}`);
  return { kind: 'paid', payer, served: ok };
}

/** Refusals after which the same request has to be sent again. */
const AGAIN: ReadonlySet<string> = new Set([
  'payment_in_progress',
  'request_in_progress',
  'settlement_unknown',
  'payment_failed',
  'rate_limited',
  'request_timeout',
  'overloaded',
  'upstream_unavailable',
]);

/** Null when patience is at its end, where that is no fault. */
async function untilAnswered(
  { ms, mustBeAnswered }: Patience,
  ask: () => Promise<Heard | null>,
  wanted: ReadonlySet<string> | null = null,
): Promise<Heard | null> {
  const deadline = performance.now() + ms;
  let last: Heard | null = null;
  for (; performance.now() < deadline; await sleep(PAUSE_MS)) {
    last = await ask();
    if (last === null) continue;
    if (wanted === null ? last.code === null || !AGAIN.has(last.code) : wanted.has(last.code ?? ''))
      return last;
  }
  if (!mustBeAnswered) return null;
  throw new Error(
    `a caller was not answered within ${ms} ms; the last it heard was ${last?.code ?? 'nothing'}`,
  );
}

/** Makes one. Not while Redis is away. */
export async function openCustomer(store: ControlStore): Promise<Customer> {
  const organizationId = `org_${randomUUID()}`;
  const key = mintApiKey('live');
  const createdAtMs = Date.now();
  await store.accounts.createOrganization({
    id: organizationId,
    displayName: 'Chaos',
    plan: 'free',
    createdAtMs,
  });
  await store.accounts.addKey({
    id: `key_${randomUUID()}`,
    digest: keyDigest(key),
    kind: 'live',
    organizationId,
    label: 'chaos',
    createdAtMs,
    expiresAtMs: null,
    revokedAtMs: null,
  });
  const grant = { grantId: 'first', units: UNITS, note: 'for the run', atMs: createdAtMs };
  await store.units.grant({ organizationId, ...grant });
  return { organizationId, key };
}
