import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Address } from '../../../core/domain/account.ts';
import { chainOf } from '../../../core/domain/chains.ts';
import type { RawLog } from '../../../ingest/chain/block-source.ts';
import { rowsOfBatch } from '../../../ingest/decode/batch.ts';
import { decodeContextOf } from '../../../ingest/decode/context.ts';
import { kindsOf, TOPIC } from '../../../ingest/decode/log-kind.ts';
import { MARKER, pairLogs } from '../../../ingest/decode/pair.ts';
import { buildCatalogue } from '../../../ingest/grading/catalogue.ts';
import {
  batchOf,
  EURC,
  type Event,
  PROXY,
  settled,
  TOKENS,
  transfer,
  USDC,
  used,
  wallet,
  word,
} from '../../kit/chain-logs.ts';

const BASE = chainOf(8453);
const catalogue = buildCatalogue({
  facilitators: [],
  payees: [{ chain: BASE, address: wallet(1_001), name: '', resource: '' }],
});
const context = decodeContextOf({ chain: BASE, tokens: TOKENS, registries: {} }, catalogue);

interface Payment {
  readonly token: Address;
  readonly payer: Address;
  readonly payee: Address;
  readonly amount: bigint;
  readonly via: 'authorization' | 'permit2';
}

const payer = fc.integer({ min: 1, max: 4 }).map(wallet);
const payee = fc.integer({ min: 1, max: 6 }).map((number) => wallet(number <= 4 ? number : 1_000 + number));
/**
 * Permit2 payments are made in USDC: a reverse-order token's authorization, followed in the same transaction by a Permit2
 * transfer of the same payer and token, could belong to either transfer, and no rule over logs tells them apart.
 */
const payment: fc.Arbitrary<Payment> = fc
  .record({
    payer,
    payee,
    amount: fc.oneof(fc.constant(0n), fc.bigInt(1n, 10n ** 12n), fc.bigInt(2n ** 53n - 2n, 2n ** 53n + 2n)),
  })
  .chain((parts) =>
    fc.constantFrom(
      { ...parts, token: USDC, via: 'authorization' as const },
      { ...parts, token: EURC, via: 'authorization' as const },
      { ...parts, token: USDC, via: 'permit2' as const },
    ),
  );

/** Each issuer has one order of its own: EURC's is the reverse here. */
function eventsOf({ token, payer: from, payee: to, amount, via }: Payment, nonce: number): Event[] {
  const moved = transfer(from, to, amount, token);
  if (via === 'permit2') return [moved, settled()];
  return token === USDC ? [used(from, nonce, token), moved] : [moved, used(from, nonce, token)];
}

const said = ({ token, payer: from, payee: to, amount, via }: Payment) =>
  [token, from, to, amount, via === 'permit2' ? 'permit2_settled' : 'authorization_used'].join();

describe('decoding', () => {
  test('payments in any order, batched in any way, decode to exactly the payments made', () => {
    const blocks = fc.array(fc.array(fc.array(payment, { maxLength: 6 }), { maxLength: 4 }), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(blocks, (made) => {
        const batch = batchOf(
          made.map((transactions) =>
            transactions.map((payments) => ({ events: payments.flatMap(eventsOf) })),
          ),
        );
        const { settlements, deadLetters } = rowsOfBatch(batch, context, catalogue);
        expect(deadLetters).toEqual([]);
        const found = settlements.map((row) =>
          said({
            token: row.asset,
            payer: row.payer,
            payee: row.payee,
            amount: row.amount,
            via: (row.seen & 2) !== 0 ? 'permit2' : 'authorization',
          }),
        );
        expect(found).toEqual(made.flat(2).map(said));
      }),
      { numRuns: 500 },
    );
  });

  test('every row stands where its transfer log stands', () => {
    fc.assert(
      fc.property(fc.array(payment, { minLength: 1, maxLength: 8 }), (payments) => {
        const batch = batchOf([[{ events: payments.flatMap(eventsOf) }]]);
        for (const row of rowsOfBatch(batch, context, catalogue).settlements) {
          const log = batch.logs.find(({ logIndex }) => logIndex === row.logIndex);
          expect(log).toMatchObject({
            address: row.asset,
            data: word(row.amount),
            blockNumber: row.blockNumber,
            transactionHash: row.txHash,
          });
          expect(log?.topics[0]).toBe(TOPIC.transfer);
        }
      }),
    );
  });

  test('logs of any content never throw, and every log of ours that marks a payment is accounted for', () => {
    const anyWord = fc.oneof(
      fc.constantFrom(word(0), word(1), word(2n ** 256n - 1n)),
      fc.bigInt(0n, 2n ** 256n - 1n).map(word),
    );
    const event: fc.Arbitrary<Event> = fc.record({
      address: fc.constantFrom(USDC, EURC, PROXY, wallet(9)),
      topics: fc.oneof(
        fc.array(anyWord, { maxLength: 5 }),
        fc
          .tuple(fc.constantFrom(...Object.values(TOPIC)), fc.array(anyWord, { maxLength: 4 }))
          .map(([first, rest]) => [first, ...rest]),
      ),
      data: fc.oneof(
        fc.constant('0x'),
        anyWord,
        fc.string({ maxLength: 70 }),
        anyWord.map((value) => `${value}00`),
      ),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 30 }), (events) => {
        const batch = batchOf([[{ events }]]);
        const { settlements, deadLetters } = rowsOfBatch(batch, context, catalogue);
        const places = [...settlements, ...deadLetters].map(({ logIndex }) => logIndex);
        expect(new Set(places).size).toBe(places.length);
        const kinds = kindsOf(batch.logs, context);
        const authorizations = kinds.filter((kind) => kind === 2).length;
        const explained = settlements.filter(({ seen }) => (seen & 1) !== 0).length + deadLetters.length;
        expect(explained).toBeGreaterThanOrEqual(authorizations);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** The pairing rule of docs/design/evidence.md read aloud: quadratic, over plain lists, one token of one transaction at a time. */
function pairNaively(logs: readonly RawLog[]): Set<number> {
  const taken = new Set<number>();
  const alone = new Set<string>();
  const groupOf = ({ transactionHash, address }: RawLog) => `${transactionHash} ${address}`;
  const groups = new Map<string, RawLog[]>();
  for (const log of logs) groups.set(groupOf(log), [...(groups.get(groupOf(log)) ?? []), log]);
  for (const [name, group] of groups) {
    const uses = group.filter(({ topics }) => topics[0] === TOPIC.authorizationUsed);
    const fits = (log: RawLog, use: RawLog) =>
      log.topics[0] === TOPIC.transfer && log.topics[1] === use.topics[1];
    const mine = new Set<number>();
    for (const use of uses) {
      const next = uses.find(({ logIndex }) => logIndex > use.logIndex)?.logIndex ?? Number.POSITIVE_INFINITY;
      const after = group.find(
        (log) =>
          fits(log, use) && log.logIndex > use.logIndex && log.logIndex < next && !mine.has(log.logIndex),
      );
      const before = group.find(
        (log) => fits(log, use) && log.logIndex === use.logIndex - 1 && !mine.has(log.logIndex),
      );
      const transferLog = after ?? before;
      if (transferLog) mine.add(transferLog.logIndex);
      else alone.add(name);
    }
    const reverse = uses.map((use) =>
      group.find((log) => fits(log, use) && log.logIndex === use.logIndex - 1),
    );
    const whole = alone.has(name) && reverse.every((log) => log !== undefined);
    for (const index of whole ? reverse.map((log) => log?.logIndex ?? -1) : mine) taken.add(index);
  }
  return taken;
}

test('pairing equals the rule applied naively, whatever the order of the logs', () => {
  const event = fc.oneof(
    fc
      .tuple(payer, payee, fc.constantFrom(USDC, EURC))
      .map(([from, to, token]) => transfer(from, to, 1, token)),
    fc.tuple(payer, fc.constantFrom(USDC, EURC)).map(([from, token]) => used(from, 1, token)),
  );
  fc.assert(
    fc.property(fc.array(fc.array(event, { maxLength: 12 }), { maxLength: 3 }), (transactions) => {
      const { logs } = batchOf([transactions.map((events) => ({ events }))]);
      const kinds = kindsOf(logs, context);
      const markers = pairLogs(logs, kinds);
      const paired = logs.filter(
        (log, at) => log.topics[0] === TOPIC.transfer && markers[at] === MARKER.authorization,
      );
      expect(new Set(paired.map(({ logIndex }) => logIndex))).toEqual(pairNaively(logs));
    }),
    { numRuns: 3_000 },
  );
});

test('thousands of lone authorizations in one transaction are recognised in a moment', () => {
  const events = Array.from({ length: 20_000 }, (_, index) => used(wallet(1 + (index % 3)), index));
  const batch = batchOf([[{ events }]]);
  const began = performance.now();
  const { deadLetters } = rowsOfBatch(batch, context, catalogue);
  expect(deadLetters).toHaveLength(20_000);
  expect(performance.now() - began).toBeLessThan(5_000);
});
