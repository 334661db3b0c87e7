import fc from 'fast-check';
import { expect, test } from 'vitest';
import { address } from '../../../core/domain/account.ts';
import { chainOf } from '../../../core/domain/chains.ts';
import { channelConfigForm, findTerms, paymentInfoForm } from '../../../ingest/decode/channels/terms.ts';
import { addressWord, wallet, word } from '../../kit/chain-logs.ts';

const BATCH = address('0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003');
const form = channelConfigForm(chainOf(84_532), BATCH);

/** Vector `batch-eip712-84532` of a public implementation (made with viem). */
const VECTOR = {
  words: [
    addressWord(address('0x70997970c51812dc3a010c7d01b50e0d17dc79c8')),
    addressWord(address('0x70997970c51812dc3a010c7d01b50e0d17dc79c8')),
    addressWord(address('0x19ee5100d3a1e687f85b952bd3fbec108ab6a8d7')),
    addressWord(address('0xd407e409e34e0b9afb99ecceb609bdbcd5e7f1bf')),
    addressWord(address('0x036cbd53842c5426634e7929541ec2318f3dcf7e')),
    word(900),
    word(0),
  ],
  id: '0x5fafb915f0dbee350d7f84d91802dea47e8e3a71929c3cd79da161c291fb28bd',
} as const;

const digits = (words: readonly string[]): string => words.map((one) => one.slice(2)).join('');

test('the id of a channel is the digest of a public vector', () => {
  expect(form.idOf(digits(VECTOR.words))).toBe(VECTOR.id);
  expect(form.partiesOf(digits(VECTOR.words))).toEqual({
    payer: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
    payee: '0x19ee5100d3a1e687f85b952bd3fbec108ab6a8d7',
    token: '0x036cbd53842c5426634e7929541ec2318f3dcf7e',
  });
});

const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array).toString('hex'));

test('terms are found at any byte of a calldata, among any other bytes', () => {
  const account = fc.integer({ min: 1, max: 2 ** 30 }).map((number) => addressWord(wallet(number)));
  const words = fc.tuple(account, account, account, account, account, fc.constant(word(900)), account);
  fc.assert(
    fc.property(bytes, words, bytes, (before, config, after) => {
      const terms = digits(config);
      const found = findTerms(`0x${before}${terms}${after}`, form, new Set([form.idOf(terms)]));
      expect([...found.values()]).toEqual([form.partiesOf(terms)]);
    }),
  );
});

test('calldata without the terms proves nothing, however long it is', () => {
  const zeros = `0x${'0'.repeat(500_000)}`;
  const repeated = `0x${digits(VECTOR.words.slice(0, 5)).repeat(2_000)}`;
  for (const input of [zeros, repeated, '0x', '0x00']) {
    expect(findTerms(input, form, new Set([VECTOR.id])).size).toBe(0);
    expect(findTerms(input, paymentInfoForm(chainOf(8_453), BATCH), new Set([VECTOR.id])).size).toBe(0);
  }
});
