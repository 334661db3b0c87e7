import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createHttpFacilitator, type Settling, type Verification } from '../../../src/payment/facilitator.ts';
import {
  jsonReply,
  type ScriptedAct,
  type ScriptedFacilitator,
  startScriptedFacilitator,
} from '../../kit/scripted-facilitator.ts';
import { startX402World, type X402World } from '../../kit/x402-world.ts';
import { facilitatorContract, paymentOf } from './facilitator.ts';

/** The HTTP adapter in front of a real facilitator, and in front of one that misbehaves. */

const TIMEOUT_MS = 400;
const HASH = `0x${'ab'.repeat(32)}`;
const HEADERS = { 'x-facilitator-key': 'key-of-a-test' };

let world: X402World;
let scripted: ScriptedFacilitator;

beforeAll(async () => {
  world = await startX402World();
  scripted = await startScriptedFacilitator(world.facilitator.url);
});
afterEach(() => scripted.reset());
afterAll(async () => {
  await scripted?.stop();
  await world?.stop();
});

const patient = { headers: {}, settleTimeoutMs: 10_000 };
facilitatorContract('the HTTP adapter in front of a real facilitator', () => ({
  world,
  facilitator: createHttpFacilitator({ ...patient, url: world.facilitator.url }),
}));
facilitatorContract('the HTTP adapter in front of the scripted double without a script', () => ({
  world,
  facilitator: createHttpFacilitator({ ...patient, url: `${scripted.url}/` }),
}));

function hasty() {
  return createHttpFacilitator({
    url: scripted.url,
    headers: HEADERS,
    verifyTimeoutMs: TIMEOUT_MS,
    settleTimeoutMs: TIMEOUT_MS,
  });
}

const redirect = (location: string): ScriptedAct => ({ status: 307, text: '', headers: { location } });

describe('what counts as a verdict', () => {
  const rows: [string, ScriptedAct | (() => ScriptedAct), Verification['outcome'], string | null][] = [
    ['valid', jsonReply({ isValid: true }), 'valid', null],
    ['valid, with status 500', jsonReply({ isValid: true }, 500), 'unreachable', null],
    [
      'valid, for another payer',
      jsonReply({ isValid: true, payer: `0x${'1'.repeat(40)}` }),
      'unreachable',
      null,
    ],
    ['valid in words', jsonReply({ isValid: 'true' }), 'unreachable', null],
    [
      'invalid',
      jsonReply({ isValid: false, invalidReason: 'insufficient_funds' }),
      'invalid',
      'insufficient_funds',
    ],
    [
      'invalid, with status 400',
      jsonReply({ isValid: false, invalidReason: 'insufficient_funds' }, 400),
      'invalid',
      'insufficient_funds',
    ],
    [
      'invalid, with a signature in the reason',
      jsonReply({ isValid: false, invalidReason: `args: (0x${'c'.repeat(130)})` }),
      'invalid',
      null,
    ],
    [
      'invalid, with an endless reason',
      jsonReply({ isValid: false, invalidReason: 'a'.repeat(81) }),
      'invalid',
      null,
    ],
    ['a list', jsonReply([]), 'unreachable', null],
    ['null', jsonReply(null), 'unreachable', null],
    ['no JSON', { status: 200, text: '<html>gateway</html>' }, 'unreachable', null],
    ['nothing', { status: 204, text: '' }, 'unreachable', null],
    ['half an answer', { cut: JSON.stringify({ isValid: true }) }, 'unreachable', null],
    ['more than 64 KiB', jsonReply({ isValid: true, padding: 'x'.repeat(70_000) }), 'unreachable', null],
    ['a redirect', () => redirect(`${world.facilitator.url}/verify`), 'unreachable', null],
    ['silence', 'hang', 'unreachable', null],
    ['a broken connection', 'reset', 'unreachable', null],
  ];
  test.each(rows)('%s', async (_what, act, outcome, reason) => {
    scripted.onVerify = () => (typeof act === 'function' ? act() : act);
    const { payment } = await paymentOf(world);
    const verdict = await hasty().verify(payment);
    expect(verdict.outcome).toBe(outcome);
    if (verdict.outcome === 'invalid') expect(verdict.reason).toBe(reason);
  });

  test('the configured headers are sent', async () => {
    const { payment } = await paymentOf(world);
    await hasty().verify(payment);
    expect(scripted.calls[0]?.headers).toMatchObject(HEADERS);
  });

  test('a caller who leaves is not waited for', async () => {
    scripted.onVerify = () => 'hang';
    const { payment } = await paymentOf(world);
    const facilitator = createHttpFacilitator({ ...patient, verifyTimeoutMs: 600_000, url: scripted.url });
    expect((await facilitator.verify(payment, AbortSignal.abort())).outcome).toBe('unreachable');
  });
});

describe('what counts as a settlement', () => {
  const good = { success: true, transaction: HASH, network: 'base-sepolia' };
  const failed = { success: false, transaction: '', network: 'base-sepolia' };
  const rows: [string, ScriptedAct | (() => ScriptedAct), Settling['outcome'], string | null][] = [
    ['success', jsonReply(good), 'settled', null],
    [
      'success on the chain by its other name',
      jsonReply({ ...good, network: 'eip155:84532' }),
      'settled',
      null,
    ],
    [
      'success with a hash in capitals',
      jsonReply({ ...good, transaction: `0x${'AB'.repeat(32)}` }),
      'settled',
      null,
    ],
    ['success with status 502', jsonReply(good, 502), 'unknown', null],
    ['success on another network', jsonReply({ ...good, network: 'base' }), 'unknown', null],
    ['success on no network', jsonReply({ ...good, network: undefined }), 'unknown', null],
    ['success for another payer', jsonReply({ ...good, payer: `0x${'1'.repeat(40)}` }), 'unknown', null],
    ['success of another amount', jsonReply({ ...good, amount: '999' }), 'unknown', null],
    ['success of the amount', jsonReply({ ...good, amount: '1000' }), 'settled', null],
    ['success without a hash', jsonReply({ ...good, transaction: '' }), 'unknown', null],
    ['success with half a hash', jsonReply({ ...good, transaction: HASH.slice(0, 40) }), 'unknown', null],
    ['failure', jsonReply({ ...failed, errorReason: 'insufficient_funds' }), 'failed', 'insufficient_funds'],
    [
      'failure with status 400',
      jsonReply({ ...failed, errorReason: 'insufficient_funds' }, 400),
      'failed',
      'insufficient_funds',
    ],
    [
      'failure because the nonce was used',
      jsonReply({ ...failed, errorReason: 'invalid_exact_evm_nonce_already_used' }),
      'failed',
      'invalid_exact_evm_nonce_already_used',
    ],
    [
      'failure while it waits',
      jsonReply({ ...failed, errorReason: 'settlement_pending', transaction: HASH }),
      'unknown',
      'settlement_pending',
    ],
    [
      'failure in the middle',
      jsonReply({ ...failed, errorReason: 'unexpected_settle_error' }),
      'doubtful',
      'unexpected_settle_error',
    ],
    [
      'failure with the text of an error',
      jsonReply({ ...failed, errorReason: `Timed out while waiting for ${HASH}` }),
      'doubtful',
      null,
    ],
    ['no JSON', { status: 200, text: 'settled!' }, 'unknown', null],
    ['null', jsonReply(null), 'unknown', null],
    ['an error of the server', jsonReply({ error: 'internal' }, 500), 'unknown', null],
    ['half an answer', { cut: JSON.stringify(good) }, 'unknown', null],
    ['more than 64 KiB', jsonReply({ ...good, padding: 'x'.repeat(70_000) }), 'unknown', null],
    ['a redirect', () => redirect(`${world.facilitator.url}/settle`), 'unknown', null],
    ['silence', 'hang', 'unknown', null],
    ['a broken connection', 'reset', 'unknown', null],
  ];
  test.each(rows)('%s', async (_what, act, outcome, reason) => {
    scripted.onSettle = () => (typeof act === 'function' ? act() : act);
    const { payer, payment } = await paymentOf(world);
    const settling = await hasty().settle(payment);
    expect(settling.outcome).toBe(outcome);
    if (settling.outcome === 'settled') expect(settling.transaction).toBe(HASH);
    else if (settling.outcome !== 'unsent') expect(settling.reason).toBe(reason);
    expect(scripted.calls.map(({ path }) => path)).toEqual(['/settle']);
    expect(await world.settlements(payer.address)).toBe(0);
  });

  test('a facilitator that refuses connections was certainly not asked', async () => {
    const { payment } = await paymentOf(world);
    await scripted.stop();
    expect((await hasty().settle(payment)).outcome).toBe('unsent');
    expect((await hasty().verify(payment)).outcome).toBe('unreachable');
  });
});

test('no cause of a failure holds the signature, the URL or a header', async () => {
  const { payment, signature } = await paymentOf(world);
  const secretive = createHttpFacilitator({
    url: scripted.url.replace('http://', 'http://user:secret-of-a-url@'),
    headers: HEADERS,
    verifyTimeoutMs: TIMEOUT_MS,
    settleTimeoutMs: TIMEOUT_MS,
  });
  const told: string[] = [];
  for (const act of ['hang', 'reset', { status: 200, text: 'x' }] satisfies ScriptedAct[]) {
    scripted.onVerify = scripted.onSettle = () => act;
    for (const facilitator of [hasty(), secretive])
      for (const outcome of [await facilitator.verify(payment), await facilitator.settle(payment)])
        told.push(describeAll(outcome));
  }
  await scripted.stop();
  told.push(describeAll(await hasty().settle(payment)));
  for (const secret of [signature.slice(2), new URL(scripted.url).host, 'secret-of-a-url', 'key-of-a-test'])
    expect(told.join('\n')).not.toContain(secret);
});

/** Everything that a log would write of an outcome, causes of causes included. */
function describeAll(outcome: Verification | Settling): string {
  const parts = [JSON.stringify(outcome)];
  let cause: unknown = 'cause' in outcome ? outcome.cause : undefined;
  while (cause instanceof Error) {
    parts.push(cause.stack ?? '', JSON.stringify(cause));
    cause = cause.cause;
  }
  return parts.join('\n');
}
