import { keccak_256 } from '@noble/hashes/sha3.js';
import { type Address, type Hash, hexDigitsOf, hexOf } from '../../../core/domain/account.ts';
import { type Chain, chainIdOf } from '../../../core/domain/chains.ts';
import { domainSeparator } from '../../../core/domain/eip712.ts';

/**
 * The parties of a channel or of an escrowed payment. Events of a claim or of a capture name only an id, which is a digest of these
 * terms: terms found anywhere in the calldata are proven by computing the id from them, however deeply the call is nested. Nothing
 * here depends on the shape of the call.
 *
 * Sources: x402BatchSettlement (x402-foundation/x402 3d73f63f), AuthCaptureEscrow (base/commerce-payments 3f77761c).
 */
export interface ChannelTerms {
  readonly payer: Address;
  readonly payee: Address;
  readonly token: Address;
}

/** How the id of a channel follows from its terms. */
export interface TermsForm {
  /** 32-byte words of the terms in calldata and events. */
  readonly words: number;
  /** Words that are addresses: their first 12 bytes are zero, which nearly every other place of a calldata fails. */
  readonly addressWords: readonly number[];
  readonly idOf: (terms: string) => Hash;
  readonly partiesOf: (terms: string) => ChannelTerms;
}

const WORD_DIGITS = 64;
const ADDRESS_DIGITS = hexDigitsOf('address');
const ADDRESS_PADDING = '0'.repeat(WORD_DIGITS - ADDRESS_DIGITS);

/** keccak256 of `ChannelConfig(address payer,address payerAuthorizer,…,bytes32 salt)`. */
const CHANNEL_CONFIG_TYPE = '1c9a06ceab9b0ebbd3301dc56c9111bb6d9af421356dc9ccb3b7084c755db308';
/** keccak256 of `PaymentInfo(address operator,address payer,…,uint256 salt)`. */
const PAYMENT_INFO_TYPE = 'ae68ac7ce30c86ece8196b61a7c486d8f0061f575037fbd34e7fe4e2820c6591';

/** `ChannelConfig`: the id is its EIP-712 digest. */
export function channelConfigForm(chain: Chain, contract: Address): TermsForm {
  const domain = { chainId: chainIdOf(chain), contract };
  const separator = domainSeparator({ name: 'x402 Batch Settlement', version: '1' }, domain).slice(2);
  return {
    words: 7,
    addressWords: [0, 1, 2, 3, 4],
    idOf: (terms) => keccak(`1901${separator}${hexOf(keccak(CHANNEL_CONFIG_TYPE + terms))}`),
    partiesOf: (terms) => ({
      payer: addressAt(terms, 0),
      payee: addressAt(terms, 2),
      token: addressAt(terms, 4),
    }),
  };
}

/** `PaymentInfo`: the id hashes the chain, the escrow and the struct's hash. */
export function paymentInfoForm(chain: Chain, escrow: Address): TermsForm {
  const place =
    chainIdOf(chain).toString(16).padStart(WORD_DIGITS, '0') + hexOf(escrow).padStart(WORD_DIGITS, '0');
  return {
    words: 12,
    addressWords: [0, 1, 2, 3, 10],
    idOf: (terms) => keccak(place + hexOf(keccak(PAYMENT_INFO_TYPE + terms))),
    partiesOf: (terms) => ({
      payer: addressAt(terms, 1),
      payee: addressAt(terms, 2),
      token: addressAt(terms, 3),
    }),
  };
}

/** Most places of one calldata whose digest is computed: a claim of 1,000 rows has 1,000; each costs about 10 µs. */
const CANDIDATES_MAX = 4_096;

/**
 * The terms of the wanted ids that stand in a calldata, by id. Looks at every byte position, since a call inside of another one is
 * not aligned to words, but computes a digest only where the words that must be addresses can be.
 */
export function findTerms(
  input: string,
  form: TermsForm,
  wanted: ReadonlySet<Hash>,
): ReadonlyMap<Hash, ChannelTerms> {
  const found = new Map<Hash, ChannelTerms>();
  const length = form.words * WORD_DIGITS;
  let candidates = 0;
  for (const at of firstWords(input)) {
    if (found.size === wanted.size || candidates === CANDIDATES_MAX) break;
    if (at + length > input.length || !hasAddresses(input, at, form.addressWords)) continue;
    candidates++;
    const terms = input.slice(at, at + length);
    const id = form.idOf(terms);
    if (wanted.has(id)) found.set(id, form.partiesOf(terms));
  }
  return found;
}

const NOT_ZERO = /[1-9a-f]/g;

/**
 * Places at which an address that is not zero can stand as a word, ascending. Of a run of zeros only the last 64 digits can begin
 * one, however long it is.
 */
function* firstWords(input: string): Generator<number> {
  let start = input.indexOf(ADDRESS_PADDING, 2);
  while (start !== -1) {
    NOT_ZERO.lastIndex = start;
    const end = NOT_ZERO.exec(input)?.index;
    if (end === undefined) return;
    for (let at = Math.max(start, end - WORD_DIGITS + 1); at <= end - ADDRESS_PADDING.length; at++)
      if (at % 2 === 0) yield at;
    start = input.indexOf(ADDRESS_PADDING, end);
  }
}

function hasAddresses(input: string, at: number, words: readonly number[]): boolean {
  return words.every((word) => input.startsWith(ADDRESS_PADDING, at + word * WORD_DIGITS));
}

function addressAt(terms: string, word: number): Address {
  const end = (word + 1) * WORD_DIGITS;
  return `0x${terms.slice(end - ADDRESS_DIGITS, end)}` as Address; // digits of a checked calldata
}

function keccak(hex: string): Hash {
  return `0x${Buffer.from(keccak_256(Buffer.from(hex, 'hex'))).toString('hex')}`;
}
