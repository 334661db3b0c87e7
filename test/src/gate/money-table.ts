import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  ATTEMPTS_MAX,
  LEASE_MS,
  type MoneyWorld,
  openMoneyWorld,
  PAID_BY,
  type PaidBy,
} from '../../kit/money-world.ts';
import { jsonReply, type Script } from '../../kit/scripted-facilitator.ts';
import { waitUntil } from '../../kit/wait-until.ts';
import type { OpenedStore } from '../accounts/control-store.ts';

/**
 * What becomes of a payment, whatever happens around it: it settles once, and buys one answer. Each situation is played for every way to
 * pay, through the real gate of two processes on one store; the same table runs over both stores.
 */

interface Situation {
  readonly what: string;
  readonly only?: readonly PaidBy[];
  /** Plays it; what each request was answered. */
  readonly play: (world: MoneyWorld, payment: string) => Promise<readonly string[]>;
  readonly answers: readonly string[];
  /** Settlements that were asked for, and payments that moved: once each where it is not said. */
  readonly asked?: number;
  readonly moved?: number;
}

const MANY = 20;
const FIXED: readonly PaidBy[] = ['exact, version 1', 'exact, version 2'];
const DEADLINE_MS = 3_600_000;
/** How long after its deadline an authorization counts as dead. */
const MARGIN_MS = 5 * 60_000;
const died = () => Promise.reject(new Error('the process died'));
const UNMINED = `0x${'ab'.repeat(32)}`;

/** Settles, and then answers with `act`. */
const settledThen =
  (act: Awaited<ReturnType<Script>>) =>
  async ({ facilitator, settles }: MoneyWorld): Promise<void> => {
    facilitator.onSettle = async (call, forward) => {
      await settles(call, forward);
      return act;
    };
  };
const unsettled =
  (act: Awaited<ReturnType<Script>>) =>
  async ({ facilitator }: MoneyWorld): Promise<void> => {
    facilitator.onSettle = () => act;
  };
const pending = jsonReply({ success: false, errorReason: 'settlement_pending', transaction: UNMINED });
const claimed = (over: object = {}) =>
  jsonReply({ success: true, transaction: UNMINED, network: 'base-sepolia', ...over });

/** A facilitator that settled and does not say so: the chain tells, and the call is answered. */
const settledButSilent = Object.entries({
  'breaks the connection': 'reset',
  'breaks off its answer': { cut: '{"success":true}' },
  'answers garbage': { status: 200, text: 'ok' },
  'answers 500': jsonReply({ error: 'x' }, 500),
  'says that it is pending': pending,
  'says that it failed': jsonReply({ success: false, errorReason: 'transaction_failed', transaction: '' }),
  'names no transaction': claimed({ transaction: '' }),
  'names another transaction': claimed(),
  'sends more than a verdict': { status: 200, text: ' '.repeat(100_000) },
} satisfies Record<string, Awaited<ReturnType<Script>>>).map(
  ([does, act]): Situation => ({
    what: `settles and ${does}: seen on the chain and served`,
    play: async (world, payment) => {
      await settledThen(act)(world);
      return [await world.send(payment)];
    },
    answers: ['served'],
  }),
);

/** Nothing settled, and the answers of the facilitator do not show it: no answer, no second settlement, at once, in another process and after any lease. */
const nothingSettled = Object.entries({
  'a broken connection': 'reset',
  'a lie that it settled': claimed(),
  'a lie about another payer': claimed({ payer: `0x${'8'.repeat(40)}` }),
  'a lie about another network': claimed({ network: 'base' }),
  'an error in the middle': jsonReply({
    success: false,
    errorReason: 'unexpected_settle_error',
    transaction: '',
  }),
} satisfies Record<string, Awaited<ReturnType<Script>>>).map(
  ([what, act]): Situation => ({
    what: `${what}, and nothing settled: not served and not settled a second time`,
    play: async (world, payment) => {
      await unsettled(act)(world);
      const answers = [
        await world.send(payment),
        await world.send(payment),
        await world.send(payment, { process: 1 }),
      ];
      world.wait(LEASE_MS);
      return [...answers, await world.send(payment)];
    },
    answers: Array(4).fill('settlement_unknown'),
    moved: 0,
  }),
);

/** Nothing is taken and nothing claimed, and the same payment is good once the facilitator is back. */
const cannotVerify = Object.entries({
  'breaks the connection': 'reset',
  'answers garbage': { status: 200, text: '<html>' },
  fails: jsonReply({ error: 'internal_error' }, 500),
  'answers for another payer': jsonReply({ isValid: true, payer: `0x${'9'.repeat(40)}` }),
} satisfies Record<string, Awaited<ReturnType<Script>>>).map(
  ([does, act]): Situation => ({
    what: `a facilitator that ${does} when it is asked to verify takes no money`,
    play: async ({ send, facilitator, asked }, payment) => {
      const { onVerify } = facilitator;
      facilitator.onVerify = () => act;
      const first = await send(payment);
      expect(asked()).toBe(0);
      facilitator.onVerify = onVerify;
      return [first, await send(payment, { process: 1 })];
    },
    answers: ['upstream_unavailable', 'served'],
  }),
);

const SITUATIONS: readonly Situation[] = [
  ...cannotVerify,
  {
    what: 'sent again after its answer arrived: used up, in both processes',
    play: async ({ send }, payment) => [
      await send(payment),
      await send(payment),
      await send(payment, { process: 1 }),
    ],
    answers: ['served', 'payment_invalid', 'payment_invalid'],
  },
  {
    what: `sent ${MANY} times at once to two processes: one is served, and the others learn that it is in use`,
    play: async ({ send }, payment) => {
      let refused = 0;
      const during = () => waitUntil('every other request was answered', () => refused === MANY - 1);
      const answers = await Promise.all(
        Array.from({ length: MANY }, async (_, at) => {
          const answer = await send(payment, { process: at % 2 === 0 ? 0 : 1, during });
          if (answer !== 'served') refused += 1;
          return answer;
        }),
      );
      return [...answers.toSorted(), await send(payment)];
    },
    answers: [...Array(MANY - 1).fill('payment_in_progress'), 'served', 'payment_invalid'],
  },
  {
    what: 'an answer that is lost is given again, once it arrives the payment is used up',
    play: async ({ send }, payment) => [
      await send(payment, { arrives: false }),
      await send(payment, { process: 1 }),
      await send(payment),
    ],
    answers: ['served', 'served', 'payment_invalid'],
  },
  {
    what: 'answers that never arrive are not given without end',
    play: async ({ send }, payment) => {
      const answers: string[] = [];
      for (let time = 0; time <= ATTEMPTS_MAX; time++) answers.push(await send(payment, { arrives: false }));
      return answers;
    },
    answers: [...Array(ATTEMPTS_MAX).fill('served'), 'payment_invalid'],
  },
  {
    what: 'a call that fails on our side, however often, leaves the payment good',
    only: FIXED,
    play: async ({ send }, payment) => {
      for (let time = 0; time <= ATTEMPTS_MAX; time++) await send(payment, { during: died });
      return [await send(payment)];
    },
    answers: ['served'],
  },
  {
    what: 'it buys no other request, and nothing moves for one',
    play: async ({ send }, payment) => [
      await send(payment, { arrives: false }),
      await send(payment, { isOther: true }),
      await send(payment, { isOther: true, process: 1 }),
      await send(payment),
    ],
    answers: ['served', 'payment_invalid', 'payment_invalid', 'served'],
  },
  {
    what: 'in use while the facilitator is asked, and unknown as soon as it did not answer',
    play: async ({ send, facilitator }, payment) => {
      let breakOff: (() => void) | undefined;
      facilitator.onSettle = async () => {
        await new Promise<void>((resolve) => {
          breakOff = resolve;
        });
        return 'reset' as const;
      };
      const begun = send(payment);
      await waitUntil('the facilitator was asked to settle', () => breakOff !== undefined);
      const second = await send(payment, { process: 1 });
      breakOff?.();
      return [second, await begun, await send(payment)];
    },
    answers: ['payment_in_progress', 'settlement_unknown', 'settlement_unknown'],
    moved: 0,
  },
  ...settledButSilent,
  ...nothingSettled,
  ...Object.entries({
    'a broken connection': 'reset',
    'a lie about another payer': claimed({ payer: `0x${'8'.repeat(40)}` }),
    'a lie about another network': claimed({ network: 'base' }),
  } satisfies Record<string, Awaited<ReturnType<Script>>>).map(
    ([what, act]): Situation => ({
      what: `${what}, and no chain to ask: not served and not settled a second time`,
      play: async (world, payment) => {
        world.silenceChain();
        await unsettled(act)(world);
        return [await world.send(payment), await world.send(payment, { process: 1 })];
      },
      answers: ['settlement_unknown', 'settlement_unknown'],
      moved: 0,
    }),
  ),
  {
    what: 'a settlement of unknown outcome that is mined later serves the same payment then',
    play: async ({ send, settles, facilitator }, payment) => {
      let settleLate: (() => unknown) | undefined;
      facilitator.onSettle = (call, forward) => {
        settleLate = () => settles(call, forward);
        return 'reset';
      };
      const first = await send(payment);
      await settleLate?.();
      return [first, await send(payment, { process: 1 }), await send(payment)];
    },
    answers: ['settlement_unknown', 'served', 'payment_invalid'],
  },
  {
    what: 'one that never comes frees nothing before its authorization has long ended, and then nothing was charged',
    play: async (world, payment) => {
      await unsettled('reset')(world);
      const first = await world.send(payment);
      world.wait(DEADLINE_MS);
      expect(await world.sweep()).toMatchObject({ settled: 0, dropped: 0 });
      const second = await world.send(payment);
      world.wait(MARGIN_MS + LEASE_MS);
      return [first, second, await world.send(payment)];
    },
    answers: ['settlement_unknown', 'settlement_unknown', 'payment_invalid'],
    moved: 0,
  },
  {
    what: 'a chain that is silent is not waited for: the facilitator is believed',
    play: async ({ send, silenceChain }, payment) => {
      silenceChain();
      return [await send(payment)];
    },
    answers: ['served'],
  },
  {
    what: 'a facilitator that is down when it is asked to settle: nothing was charged, and the payment is good later',
    play: async ({ send, facilitator }, payment) => {
      const { onVerify } = facilitator;
      facilitator.onVerify = async (call, forward) => {
        const verdict = await onVerify(call, forward);
        return typeof verdict === 'object' && 'status' in verdict ? { ...verdict, thenDie: true } : verdict;
      };
      return [await send(payment)];
    },
    answers: ['upstream_unavailable'],
    asked: 0,
    moved: 0,
  },
  {
    what: 'its process dies between settlement and answer: another serves it after the lease',
    only: FIXED,
    play: async ({ send, wait }, payment) => {
      // Nothing is reported of a call whose process died.
      const dies = new Promise<never>(() => undefined);
      let isRunning = false;
      void send(payment, {
        during: () => {
          isRunning = true;
          return dies;
        },
      });
      await waitUntil('the call runs', () => isRunning);
      const early = await send(payment, { process: 1 });
      wait(LEASE_MS);
      return [early, await send(payment, { process: 1 }), await send(payment)];
    },
    answers: ['payment_in_progress', 'served', 'payment_invalid'],
  },
  {
    what: 'its process dies while the call runs, before anything moved: the payment may be sent again',
    only: ['upto'],
    play: async ({ send, wait }, payment) => {
      let isRunning = false;
      void send(payment, {
        during: () => {
          isRunning = true;
          return new Promise<never>(() => undefined);
        },
      });
      await waitUntil('the call runs', () => isRunning);
      const early = await send(payment, { process: 1 });
      wait(10 * LEASE_MS);
      return [early, await send(payment, { process: 1 }), await send(payment)];
    },
    answers: ['payment_in_progress', 'served', 'payment_invalid'],
  },
  {
    what: 'a call that was taken for dead, and was not, and its successor: one settles and one is served',
    only: ['upto'],
    play: async ({ send, wait }, payment) => {
      let goOn: (() => void) | undefined;
      const slow = send(payment, {
        during: () =>
          new Promise<void>((resolve) => {
            goOn = resolve;
          }),
      });
      await waitUntil('the call runs', () => goOn !== undefined);
      wait(10 * LEASE_MS);
      const quick = await send(payment, { process: 1, arrives: false });
      goOn?.();
      return [quick, await slow];
    },
    answers: ['served', 'served'],
  },
  ...(['by the payer, who sends the payment again', 'by the sweeper'] as const).map(
    (by): Situation => ({
      what: `its process dies between settlement and record: the settlement is found on the chain ${by}`,
      play: async ({ send, wait, sweep, loseRecords }, payment) => {
        loseRecords(0);
        const first = await send(payment);
        wait(LEASE_MS);
        if (by === 'by the sweeper') expect(await sweep()).toMatchObject({ settled: 1 });
        return [first, await send(payment, { process: 1 })];
      },
      answers: ['upstream_unavailable', 'served'],
    }),
  ),
  {
    what: 'a ceiling whose call failed on its own account before it used anything is free again, also for another request',
    only: ['upto'],
    play: async ({ send }, payment) => [
      await send(payment, { during: died }),
      await send(payment, { isOther: true }),
      await send(payment),
    ],
    answers: ['Error: the process died', 'served', 'payment_invalid'],
  },
];

/** A third of its ceiling of three units is what an `upto` call uses. */
const PRICES: Readonly<Record<PaidBy, string>> = {
  'exact, version 1': '5000',
  'exact, version 2': '5000',
  upto: '10000',
};

export function moneyTable(open: () => Promise<OpenedStore>): void {
  let opened: OpenedStore;
  let world: MoneyWorld;
  beforeEach(async () => {
    opened = await open();
    world = await openMoneyWorld([opened.store, await opened.reopen()]);
  });
  afterEach(async () => {
    await world.close();
    await opened.close();
  });

  describe.each(PAID_BY)('a payment by %s', (by) => {
    const situations = SITUATIONS.filter(({ only = PAID_BY }) => only.includes(by));
    test.for(situations.map((one) => [one.what, one] as const))(
      '%s',
      async ([, { play, answers, asked = 1, moved = 1 }]) => {
        expect(await play(world, await world.sign(by))).toEqual(answers);
        expect(world.asked()).toBe(asked);
        expect(world.moved()).toEqual(Array(moved).fill(PRICES[by]));
      },
    );
  });
}
