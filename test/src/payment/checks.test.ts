import { describe, expect, test } from 'vitest';
import { isPayable } from '../../../core/config/access.ts';
import { address } from '../../../core/domain/account.ts';
import { knownChain } from '../../../core/domain/networks.ts';
import { findFault, findPermitFault } from '../../../src/payment/fault.ts';
import { quoteOf, type Terms } from '../../../src/payment/offer.ts';
import {
  type ChainLog,
  proofIn,
  TRANSFER_TOPIC,
  USED_TOPIC,
  uptoProofIn,
  word,
} from '../../../src/payment/proof.ts';
import { expiryMs, type Purchase } from '../../../src/payment/purchase.ts';
import {
  type PermitAuthorization,
  type SignedAuthorization,
  type SignedTransfer,
  UPTO_PROXY,
} from '../../../src/payment/signed-payment.ts';

/** The edges of the checks that are made without asking anybody, and of what logs prove. */

const NOW = 1_800_000_000;
const PAYER = address('0x857b06519e91e3a54538791bdbb0e22373e36b66');
const PAY_TO = address('0x209693bc6afc0c5328ba36faf03c514ef312287c');
const OTHER = address(`0x${'12'.repeat(20)}`);
const NONCE = `0x${'f3'.repeat(32)}`;
const ASSET = address('0x036cbd53842c5426634e7929541ec2318f3dcf7e');

function faultOf(
  change: Partial<SignedAuthorization>,
  payment: Partial<SignedTransfer> = {},
): string | undefined {
  const token = knownChain('base-sepolia')?.tokens.find(isPayable);
  if (token === undefined) throw new Error('Base Sepolia is built in');
  const order = {
    resource: 'GET /v0/flows',
    url: 'https://api.example/v0/flows?a=b',
    description: '',
    mimeType: 'application/json',
    priceUsdMicros: 1_000n,
    settledByUse: false,
    binding: '',
  };
  const accept = [
    { chain: 'eip155:84532', slug: 'base-sepolia', token, payTo: PAY_TO, rpcUrls: [] } as const,
  ];
  const [terms] = quoteOf(order, { accept, offerSeconds: 60 }).terms;
  if (terms === undefined) throw new Error('one way to pay');
  const authorization = {
    from: PAYER,
    to: PAY_TO,
    value: '1000',
    validAfter: '0',
    validBefore: String(NOW + 60),
    nonce: NONCE,
    ...change,
  };
  const signed: SignedTransfer = {
    kind: 'authorization',
    scheme: 'exact',
    x402Version: 1,
    network: 'base-sepolia',
    accepted: null,
    resourceUrl: null,
    signature: '0x',
    authorization,
    ...payment,
  };
  return findFault(signed, terms, { order, nowMs: NOW * 1_000 + 999 })?.reason;
}

test.each(['0', '999', '1001'])('a payment of %s where 1,000 are due is none, in either version', (value) => {
  expect(faultOf({ value })).toBe('invalid_exact_evm_authorization_value');
  expect(faultOf({ value }, { x402Version: 2 })).toBe(
    'invalid_exact_evm_payload_authorization_value_mismatch',
  );
});

test('a payment to another payee is none of ours', () => {
  expect(faultOf({ to: OTHER })).toBe('invalid_exact_evm_recipient_mismatch');
});

describe('a payment in time', () => {
  test.each([
    [NOW + 6, undefined],
    [NOW + 5, 'invalid_exact_evm_payload_authorization_valid_before'],
    [NOW - 1, 'invalid_exact_evm_payload_authorization_valid_before'],
  ])('that ends at %i', (validBefore, reason) => {
    expect(faultOf({ validBefore: String(validBefore) })).toBe(reason);
  });

  test.each([
    [NOW, undefined],
    [NOW + 1, 'invalid_exact_evm_payload_authorization_valid_after'],
  ])('that begins at %i', (validAfter, reason) => {
    expect(faultOf({ validAfter: String(validAfter) })).toBe(reason);
  });

  test('that practically never ends is fine, and one beyond what a contract can read is not', () => {
    expect(faultOf({ validBefore: String(2n ** 256n - 1n) })).toBeUndefined();
    expect(faultOf({ validBefore: String(2n ** 256n) })).toBe(
      'invalid_exact_evm_payload_authorization_valid_before',
    );
    const endless = {
      payment: { kind: 'authorization', authorization: { validBefore: String(2n ** 256n - 1n) } },
    } as Purchase; // all that is read
    expect(new Date(expiryMs(endless, 0)).getTime()).toBe(8_640_000_000_000_000);
  });
});

describe('addresses', () => {
  test.each([
    ['in lower case', PAY_TO, undefined],
    ['checksummed', '0x209693Bc6afc0C5328bA36FaF03C514EF312287C', undefined],
    ['mis-cased', '0x209693bC6afc0C5328bA36FaF03C514EF312287C', 'invalid_exact_evm_address_checksum'],
    [
      'in upper case, which typed data refuses',
      `0x${PAY_TO.slice(2).toUpperCase()}`,
      'invalid_exact_evm_address_checksum',
    ],
  ])('%s', (_what, to, reason) => {
    expect(faultOf({ to })).toBe(reason);
  });
});

test('the resource of a version 2 payment is compared as a URL', () => {
  expect(faultOf({}, { resourceUrl: 'https://API.example:443/v0/flows?a=b' })).toBeUndefined();
  for (const resourceUrl of ['https://api.example/v0/flows', 'https://api.example/v0/flows?a=c', 'nonsense'])
    expect(faultOf({}, { resourceUrl })).toBe('invalid_payment_requirements');
});

describe('a ceiling', () => {
  const permit = {
    spender: UPTO_PROXY,
    to: PAY_TO,
    token: OTHER,
    amount: 3n,
    validAfter: 0n,
  } as PermitAuthorization; // all that is read
  const terms = { payTo: PAY_TO, asset: OTHER, amount: 3n } as Terms; // all that is read
  const now = BigInt(NOW);
  test.each([
    [66n, 0n, undefined],
    [65n, 0n, 'permit2_deadline_expired'],
    [-1n, 0n, 'permit2_deadline_expired'],
    [2n ** 255n, now, undefined],
    [100n, now + 1n, 'permit2_not_yet_valid'],
  ])('that ends in %i s, and begins at %i', (seconds, validAfter, reason) => {
    const fault = findPermitFault({ ...permit, deadline: now + seconds, validAfter }, terms, now);
    expect(fault?.reason).toBe(reason);
  });

  test.each<[string, Partial<PermitAuthorization>, string]>([
    ['another spender', { spender: OTHER }, 'invalid_permit2_spender'],
    ['another payee', { to: OTHER }, 'invalid_permit2_recipient_mismatch'],
    ['another token', { token: PAY_TO }, 'permit2_token_mismatch'],
    ['a lower ceiling', { amount: 2n }, 'permit2_amount_mismatch'],
    ['a higher ceiling', { amount: 4n }, 'permit2_amount_mismatch'],
  ])('with %s', (_what, change, reason) => {
    const fault = findPermitFault({ ...permit, deadline: now + 66n, ...change }, terms, now);
    expect(fault?.reason).toBe(reason);
  });
});

describe('the calldata of a ceiling', () => {
  const claim = { asset: ASSET, payer: PAYER, payTo: PAY_TO, nonce: 7n, amount: 1_000n };
  const number = (value: bigint): string => value.toString(16).padStart(64, '0');
  const bare = (of: string): string => word(of).slice(2);
  const settled = '0x97088ec3606cfe8cc112180570d03fcde05f9b8e1bfef8e27784eaf5dd5691b6';
  const at = { data: '0x', transactionHash: '0x', logIndex: 0 };

  const ours = {
    nonce: 7n,
    amount: 1_000n,
    owner: PAYER,
    payee: PAY_TO,
    token: ASSET,
    to: UPTO_PROXY,
    selector: '0xff11e7b4',
    event: settled,
    reverted: false,
    /** The transfer's, where it is not the amount. */
    moved: null as bigint | null,
  };

  function proof(change: Partial<typeof ours>) {
    const { nonce, amount, owner, payee, token, to, selector, event, reverted, moved } = {
      ...ours,
      ...change,
    };
    const named = [
      bare(token),
      number(9_000n),
      number(nonce),
      number(9n),
      number(amount),
      bare(owner),
      bare(payee),
    ];
    const input = `${selector}${[...named, bare(OTHER), number(0n), number(320n)].join('')}`;
    const topics = [TRANSFER_TOPIC, word(owner), word(payee)];
    const transfer = { ...at, address: token, topics, data: `0x${number(moved ?? amount)}` };
    const logs = [transfer, { ...at, address: UPTO_PROXY, topics: [event] }];
    return uptoProofIn({ to, input }, { transaction: '0x', succeeded: !reverted, logs }, claim);
  }

  test.each<[string, Partial<typeof ours>, string]>([
    ['of this payment', {}, 'paid'],
    ['of this payment, for more than is due', { amount: 1_001n }, 'paid'],
    ['of this payment, for less than is due', { amount: 999n }, 'paid_less'],
    ['of this nonce for another payee', { payee: OTHER }, 'paid_less'],
    ['of this nonce in another token', { token: OTHER }, 'paid_less'],
    ['whose money did not move', { moved: 0n }, 'paid_less'],
    ['that the proxy did not confirm', { event: TRANSFER_TOPIC }, 'paid_less'],
    ['of another nonce', { nonce: 8n }, 'absent'],
    ['of another payer', { owner: OTHER }, 'absent'],
    ['sent to another contract', { to: OTHER }, 'absent'],
    ['of another function', { selector: '0x13cd3b53' }, 'absent'],
    ['that reverted', { reverted: true }, 'absent'],
  ])('%s', (_what, change, expected) => {
    expect(proof(change)).toBe(expected);
  });

  test('that is cut off or makes a contract proves nothing', () => {
    const receipt = { transaction: '0x', succeeded: true, logs: [] };
    expect(uptoProofIn({ to: UPTO_PROXY, input: '0xff11e7b4' }, receipt, claim)).toBe('absent');
    expect(uptoProofIn({ to: null, input: '0x' }, receipt, claim)).toBe('absent');
  });
});

describe('the logs of a transaction', () => {
  const CLAIM = {
    id: { chain: 'eip155:84532', asset: ASSET, payer: PAYER, nonce: NONCE },
    payTo: PAY_TO,
    amount: '1000',
  };
  const log = (logIndex: number, topics: string[], data = '0x', at: string = ASSET): ChainLog => ({
    address: at,
    topics,
    data,
    transactionHash: '0x',
    logIndex,
  });
  const used = (index: number, payer: string = PAYER, nonce: string = NONCE) =>
    log(index, [USED_TOPIC, word(payer), nonce]);
  const paid = (index: number, { from = PAYER, to = PAY_TO, value = 1_000n, at = ASSET } = {}) =>
    log(index, [TRANSFER_TOPIC, word(from), word(to)], `0x${value.toString(16).padStart(64, '0')}`, at);

  test.each<[string, ChainLog[], string]>([
    ['marker, then transfer', [used(0), paid(1)], 'paid'],
    ['in any order of telling', [paid(1), used(0)], 'paid'],
    ['transfer, then marker, as other issuers have it', [paid(0), used(1)], 'paid'],
    ['a transfer of another payer in between', [used(0), paid(1, { from: OTHER }), paid(2)], 'paid'],
    [
      'a transfer that belongs to the next marker',
      [used(0), used(1, PAYER, `0x${'ee'.repeat(32)}`), paid(2)],
      'paid_otherwise',
    ],
    ['a transfer of another token', [used(0), paid(1, { at: OTHER })], 'paid_otherwise'],
    ['a transfer to another payee', [used(0), paid(1, { to: OTHER })], 'paid_otherwise'],
    [
      'a first transfer to another payee, a later one to us',
      [used(0), paid(1, { to: OTHER }), paid(2)],
      'paid_otherwise',
    ],
    ['one atom too little', [used(0), paid(1, { value: 999n })], 'paid_otherwise'],
    [
      'the transfer of a collectible',
      [used(0), log(1, [TRANSFER_TOPIC, word(PAYER), word(PAY_TO), NONCE], word(PAYER))],
      'paid_otherwise',
    ],
    ['a marker alone', [used(0)], 'paid_otherwise'],
    ['a transfer alone', [paid(0)], 'absent'],
    ['the marker of another payer', [used(0, OTHER), paid(1)], 'absent'],
    ['the marker of another nonce', [used(0, PAYER, `0x${'ee'.repeat(32)}`), paid(1)], 'absent'],
    ['a marker of another token', [{ ...used(0), address: OTHER }, paid(1)], 'absent'],
    ['nothing', [], 'absent'],
  ])('with %s', (_what, logs, proof) => {
    expect(proofIn(logs, CLAIM)).toBe(proof);
  });
});
