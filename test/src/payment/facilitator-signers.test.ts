import { describe, expect, test } from 'vitest';
import { address } from '../../../core/domain/account.ts';
import { type Announcement, readSigners } from '../../../src/payment/facilitator.ts';
import { createFacilitatorSigners } from '../../../src/payment/facilitator-signers.ts';
import { keepingLog } from '../../kit/x402-world.ts';

const BASE = 'eip155:8453';
const SEPOLIA = 'eip155:84532';
const [ONE, TWO, THREE] = ['11', '22', '33'].map((byte) => address(`0x${byte.repeat(20)}`)) as [
  ReturnType<typeof address>,
  ReturnType<typeof address>,
  ReturnType<typeof address>,
];
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe('what a facilitator says of ceilings', () => {
  const upto = (network: string, facilitatorAddress: unknown, x402Version = 2) => ({
    x402Version,
    scheme: 'upto',
    network,
    extra: { facilitatorAddress },
  });

  test('is the address of the kind first, then the signers of its network', () => {
    const answer = {
      kinds: [{ x402Version: 2, scheme: 'exact', network: BASE }, upto(SEPOLIA, ONE)],
      signers: { 'eip155:*': [TWO, 7, 'x'], [SEPOLIA]: [THREE], [BASE]: [ONE], 'solana:*': [ONE] },
    };
    expect(readSigners(answer)).toEqual([ONE, THREE, TWO].map((one) => ({ chain: SEPOLIA, address: one })));
  });

  test.each([
    ['version 1', upto(BASE, ONE, 1)],
    ['a short name', upto('base', ONE)],
    ['no address', { ...upto(BASE, ONE), extra: {} }],
    ['no extra', { x402Version: 2, scheme: 'upto', network: BASE }],
    ['a number as address', upto(BASE, 7)],
    ['a mis-cased address', upto(BASE, '0x036cBD53842c5426634e7929541eC2318f3dCF7e')],
    ['null', null],
  ])('passes over a kind with %s', (_what, kind) => {
    expect(readSigners({ kinds: [kind], signers: { 'eip155:*': [TWO] } })).toEqual([]);
  });

  test.each([[null], [[]], ['kinds'], [{}], [{ kinds: {} }]])('is nothing in %j', (answer) => {
    expect(readSigners(answer)).toBeNull();
  });

  test('is nothing when it is endless', () => {
    const kinds = Array.from({ length: 2_000 }, () => upto(BASE, ONE));
    expect(readSigners({ kinds })).toBeNull();
  });
});

function scene(...answers: Announcement[]) {
  let nowMs = 1_800_000_000_000;
  let asked = 0;
  const { log, lines } = keepingLog();
  const announced = async (): Promise<Announcement> => {
    const answer = answers[Math.min(asked, answers.length - 1)];
    asked += 1;
    if (answer === undefined) throw new Error('there is an answer');
    return answer;
  };
  const signers = createFacilitatorSigners({
    facilitator: { announced },
    clock: { nowMs: () => nowMs },
    log,
  });
  return {
    signers,
    lines,
    asked: () => asked,
    wait: (ms: number) => {
      nowMs += ms;
    },
  };
}

const told = (...addresses: ReturnType<typeof address>[]): Announcement => ({
  outcome: 'announced',
  signers: addresses.map((one) => ({ chain: SEPOLIA, address: one })),
});
const silent: Announcement = { outcome: 'unreachable', cause: new Error('no answer (ECONNREFUSED)') };

describe('the addresses of our facilitator', () => {
  test('are not offered before it names one, and then the first of the chain', async () => {
    const { signers } = scene(told(ONE, TWO));
    expect(signers.offered(SEPOLIA)).toBeNull();
    await signers.refresh();
    expect([signers.offered(SEPOLIA), signers.offered(BASE)]).toEqual([ONE, null]);
  });

  test('are asked for again in the background when the answer is old, and not before', async () => {
    const { signers, asked, wait } = scene(told(ONE), told(TWO));
    await signers.refresh();
    wait(4 * MINUTE_MS);
    expect([signers.offered(SEPOLIA), asked()]).toEqual([ONE, 1]);
    wait(2 * MINUTE_MS);
    expect(signers.offered(SEPOLIA)).toBe(ONE);
    await signers.refresh();
    expect([signers.offered(SEPOLIA), asked()]).toEqual([TWO, 2]);
  });

  test('stay good for payers who were offered them before', async () => {
    const { signers, wait } = scene(told(ONE), told(TWO));
    await signers.refresh();
    wait(6 * MINUTE_MS);
    await signers.refresh();
    expect(await signers.isOurs(SEPOLIA, ONE)).toBe(true);
    wait(HOUR_MS);
    expect(await signers.isOurs(SEPOLIA, ONE)).toBe(false);
    expect(await signers.isOurs(SEPOLIA, TWO)).toBe(true);
  });

  test('are looked up for a payer who comes before the first answer', async () => {
    const { signers } = scene(told(ONE));
    expect(await signers.isOurs(SEPOLIA, ONE)).toBe(true);
    expect(await signers.isOurs(SEPOLIA, TWO)).toBe(false);
    expect(await signers.isOurs(BASE, ONE)).toBe(false);
  });

  test('are unknown, not foreign, while it does not answer', async () => {
    const { signers, lines } = scene(silent);
    expect(await signers.isOurs(SEPOLIA, ONE)).toBe('unknown');
    expect(lines).toHaveLength(1);
  });

  test('are asked for once in a while, however many payers name foreign ones', async () => {
    const { signers, asked, wait } = scene(told(ONE));
    await Promise.all(Array.from({ length: 50 }, () => signers.isOurs(SEPOLIA, TWO)));
    expect(asked()).toBe(1);
    wait(6_000);
    await signers.isOurs(SEPOLIA, TWO);
    expect(asked()).toBe(2);
  });

  test('are forgotten when it has not answered for an hour', async () => {
    const { signers, wait } = scene(told(ONE), silent);
    await signers.refresh();
    wait(HOUR_MS - 1);
    expect(signers.offered(SEPOLIA)).toBe(ONE);
    wait(1);
    expect(signers.offered(SEPOLIA)).toBeNull();
  });
});
