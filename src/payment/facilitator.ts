import {
  type Address,
  isAddress,
  isSameAccount,
  isTransactionId,
  type Namespace,
  readAddress,
  readTransactionId,
} from '../../core/domain/account.ts';
import { type Chain, isChain, namespaceOf, wildcardOf } from '../../core/domain/chains.ts';
import { namesChain } from '../../core/domain/networks.ts';
import { getJson, type JsonAnswer, NoAnswer, postJson } from './post-json.ts';

/**
 * A facilitator: checks signed payments and settles them on chain, for a service that holds no key and pays no gas. One
 * contract suite runs over the HTTP adapter, in front of a real facilitator and of one that misbehaves
 * (test/src/payment/facilitator.ts).
 */
export interface Facilitator {
  /** Reads the chain only. Never rejects: a facilitator that does not answer is `unreachable`. */
  verify(payment: PaymentToSettle, signal?: AbortSignal): Promise<Verification>;
  /**
   * Submits the payment on chain. Called at most once per authorization. `unknown` after a time-out, a lost connection or
   * an answer that cannot be read: it may have settled. Never rejects.
   */
  settle(payment: PaymentToSettle): Promise<Settling>;
  /** The addresses to which payers bind what they sign, by chain. Never rejects. */
  announced(): Promise<Announcement>;
}

export type Announcement =
  | { readonly outcome: 'announced'; readonly signers: readonly FacilitatorSigner[] }
  | { readonly outcome: 'unreachable'; readonly cause: unknown };

/**
 * Of an EVM chain it settles ceilings (`upto`), of Solana it pays the fees of `exact`: a payer signs for one of them, and no other can settle.
 */
export interface FacilitatorSigner {
  readonly chain: Chain;
  readonly address: Address;
}

/** A decoded payment with the requirement that we rebuilt from the route; never the one that the client echoes. */
export interface PaymentToSettle {
  readonly x402Version: 1 | 2;
  readonly chain: Chain;
  readonly payer: Address;
  /** The decoded payment object as the facilitator takes it. Spendable: never logged. */
  readonly paymentPayload: Readonly<Record<string, unknown>>;
  readonly paymentRequirements: Readonly<Record<string, unknown>>;
}

/** A `cause` is for the log: it holds no URL, no header and nothing of the payment. */
export type Verification =
  | { readonly outcome: 'valid' }
  /** `reason` is a harmless code or null. */
  | { readonly outcome: 'invalid'; readonly reason: string | null }
  | { readonly outcome: 'unreachable'; readonly cause: unknown };

export type Settling =
  | { readonly outcome: 'settled'; readonly transaction: string }
  /** The facilitator says that nothing was settled. */
  | { readonly outcome: 'failed'; readonly reason: string | null }
  /** It says so, but with a reason that it also gives for transactions which it sent and lost track of. */
  | { readonly outcome: 'doubtful'; readonly reason: string | null }
  /** No connection could be made: certainly nothing was settled. */
  | { readonly outcome: 'unsent'; readonly cause: unknown }
  | { readonly outcome: 'unknown'; readonly reason: string | null; readonly cause: unknown };

/** A facilitator behind HTTP. Its answers are read strictly: an incomplete one counts as none. */

export interface HttpFacilitatorOptions {
  /** Its base URL; `/verify` and `/settle` lie below. May hold a path key: appears in no error. */
  readonly url: string;
  /** Sent with every request, such as its API key. */
  readonly headers: Readonly<Record<string, string>>;
  /** After which a settlement's outcome counts as unknown. */
  readonly settleTimeoutMs: number;
  /** Default: VERIFY_TIMEOUT_MS. */
  readonly verifyTimeoutMs?: number;
}

/** Verifying reads the chain a few times. */
const VERIFY_TIMEOUT_MS = 10_000;
/** A verdict is a few hundred bytes. */
const ANSWER_BYTES_MAX = 64 * 1024;
const SUPPORTED_TIMEOUT_MS = 5_000;
/** The largest answer seen has some fifty kinds: 20 kB. */
const SUPPORTED_BYTES_MAX = 512 * 1024;
/** The packages put whole transactions, signature included, into some reasons; only plain codes may leave. */
const HARMLESS_REASON = /^[a-z0-9_]{1,80}$/;

/** The reason for a transaction that was broadcast and is not mined yet; it is no failure. */
const PENDING_REASON = 'settlement_pending';
/**
 * Reasons that are also given for a transaction which was sent. A reason that is no code is doubtful as well: the v1 scheme of @x402/evm
 * 2.27.0 puts the error's text there, even for the time-out while it waits for the receipt of a transaction already sent.
 */
const DOUBTFUL_REASONS: ReadonlySet<string | null> = new Set([
  null,
  'unexpected_settle_error',
  // Of @x402/svm 2.27.0, in both versions: also where the node did not answer, and while another request settles the same.
  'invalid_exact_svm_transaction_failed',
  'transaction_failed',
  'duplicate_settlement',
]);

export function createHttpFacilitator(options: HttpFacilitatorOptions): Facilitator {
  const base = options.url.replace(/(?<!\/)\/+$/, '');
  const ask = (path: string, payment: PaymentToSettle, timeoutMs: number, signal?: AbortSignal) => {
    const { x402Version, paymentPayload, paymentRequirements } = payment;
    return postJson({
      url: `${base}${path}`,
      body: { x402Version, paymentPayload, paymentRequirements },
      headers: options.headers,
      timeoutMs,
      bytesMax: ANSWER_BYTES_MAX,
      signal,
    });
  };
  return {
    async verify(payment, signal) {
      try {
        const timeoutMs = options.verifyTimeoutMs ?? VERIFY_TIMEOUT_MS;
        return readVerdict(await ask('/verify', payment, timeoutMs, signal), payment);
      } catch (cause) {
        return { outcome: 'unreachable', cause };
      }
    },
    async settle(payment) {
      try {
        return readSettling(await ask('/settle', payment, options.settleTimeoutMs), payment);
      } catch (cause) {
        if (cause instanceof NoAnswer && !cause.sent) return { outcome: 'unsent', cause };
        return { outcome: 'unknown', reason: null, cause };
      }
    },
    async announced() {
      try {
        const { status, body } = await getJson({
          url: `${base}/supported`,
          headers: options.headers,
          timeoutMs: SUPPORTED_TIMEOUT_MS,
          bytesMax: SUPPORTED_BYTES_MAX,
        });
        const signers = isOk(status) ? readSigners(body) : null;
        return signers === null
          ? { outcome: 'unreachable', cause: nonsense(status) }
          : { outcome: 'announced', signers };
      } catch (cause) {
        return { outcome: 'unreachable', cause };
      }
    },
  };
}

function readVerdict({ status, body }: JsonAnswer, payment: PaymentToSettle): Verification {
  const fields = fieldsOf(body);
  const { isValid } = fields;
  // A refusal counts with any status: some facilitators answer 4xx with it.
  if (isValid === false) return { outcome: 'invalid', reason: harmless(fields['invalidReason']) };
  if (isValid === true && isOk(status) && isPayer(fields['payer'], payment)) return { outcome: 'valid' };
  return { outcome: 'unreachable', cause: nonsense(status) };
}

function readSettling({ status, body }: JsonAnswer, payment: PaymentToSettle): Settling {
  const fields = fieldsOf(body);
  const { success, transaction } = fields;
  if (success === false) {
    const reason = harmless(fields['errorReason']);
    if (reason === PENDING_REASON)
      return { outcome: 'unknown', reason, cause: new Error('the facilitator waits for the transaction') };
    return { outcome: DOUBTFUL_REASONS.has(reason) ? 'doubtful' : 'failed', reason };
  }
  const isWhole =
    success === true &&
    isOk(status) &&
    namesChain(fields['network'], payment.chain) &&
    isAmount(fields['amount'], payment) &&
    isPayer(fields['payer'], payment);
  const id = readTransactionId(transaction, namespaceOf(payment.chain));
  if (isWhole && isTransactionId(id)) return { outcome: 'settled', transaction: id };
  return { outcome: 'unknown', reason: null, cause: nonsense(status) };
}

function fieldsOf(body: unknown): Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}; // JSON; fields are checked one by one
}

function isOk(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Version 2 may leave the payer out; another one is another payment. */
function isPayer(payer: unknown, payment: PaymentToSettle): boolean {
  if (payer === undefined || payer === null) return true;
  return typeof payer === 'string' && isSameAccount(payer, payment.payer);
}

/** A facilitator states the amount of ceilings only; any other amount is not what was asked for. */
function isAmount(amount: unknown, { paymentRequirements }: PaymentToSettle): boolean {
  if (amount === undefined || amount === null) return true;
  return amount === (paymentRequirements['amount'] ?? paymentRequirements['maxAmountRequired']);
}

function harmless(reason: unknown): string | null {
  return typeof reason === 'string' && HARMLESS_REASON.test(reason) ? reason : null;
}

function nonsense(status: number): Error {
  return new Error(`the facilitator answered ${status} without a verdict that can be used`);
}

/**
 * `GET /supported` of a facilitator, read for the kinds whose payers sign for one of its addresses: the address of each kind first, then
 * the other signers of its network, with which the same facilitator may settle too.
 */

/** By namespace: the scheme, and where its kinds name the address. */
const BOUND_TO: Readonly<Record<Namespace, { readonly scheme: string; readonly member: string }>> = {
  eip155: { scheme: 'upto', member: 'facilitatorAddress' },
  solana: { scheme: 'exact', member: 'feePayer' },
};

/** Facilitators relay with some dozens of addresses. */
const SIGNERS_MAX = 1_000;

/** Null for an answer of another form. Entries that cannot be read are skipped. */
export function readSigners(answer: unknown): readonly FacilitatorSigner[] | null {
  const { kinds, signers } = fieldsOf(answer);
  if (!Array.isArray(kinds)) return null;
  const found: FacilitatorSigner[] = [];
  for (const kind of kinds) {
    const { x402Version, scheme, network, extra } = fieldsOf(kind);
    if (x402Version !== 2 || typeof network !== 'string' || !isChain(network)) continue;
    const bound = BOUND_TO[namespaceOf(network)];
    if (scheme !== bound.scheme) continue;
    const own = signersOf(network, fieldsOf(extra)[bound.member]);
    // Without an address in the kind, a payer has nothing to sign.
    if (own.length > 0) found.push(...own, ...othersOf(network, fieldsOf(signers)));
    if (found.length > SIGNERS_MAX) return null;
  }
  return found;
}

function othersOf(chain: Chain, signers: Readonly<Record<string, unknown>>): readonly FacilitatorSigner[] {
  return [signers[chain], signers[wildcardOf(chain)]].flat().flatMap((address) => signersOf(chain, address));
}

function signersOf(chain: Chain, raw: unknown): readonly FacilitatorSigner[] {
  const address = readAddress(raw, namespaceOf(chain));
  return isAddress(address) ? [{ chain, address }] : [];
}
