/**
 * The kinds of failure of a call that determine how to continue. Only this file matches providers' messages; they vary, hence the
 * patterns.
 */

export type RpcFailureKind =
  /** 429 or the JSON-RPC equivalent: wait as long as the provider asks. */
  | 'busy'
  /** 5xx, refused connection, closed socket. */
  | 'unavailable'
  | 'timeout'
  /** Truncated or otherwise unparsable, or a batch without an answer to this call. */
  | 'unreadable'
  /** The node wants a smaller range, batch or answer. */
  | 'too-large'
  /** Any other JSON-RPC error: unknown tag, unknown block, unsupported method. */
  | 'refused'
  /** The node does not have the requested data: it lags, or the chain became shorter. */
  | 'absent';

/** The message names the provider only by host: URLs hold keys, and viem's messages hold URLs. */
export class RpcFailure extends Error {
  readonly kind: RpcFailureKind;
  readonly retryAfterMs: number | null;

  constructor(kind: RpcFailureKind, detail: string, retryAfterMs: number | null = null) {
    super(detail);
    this.name = 'RpcFailure';
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

export type ContradictionKind =
  | 'malformed'
  | 'wrong-block'
  | 'broken-link'
  | 'foreign-log'
  | 'removed-log'
  | 'wrong-fork'
  | 'conflicting-logs'
  | 'duplicate-logs'
  | 'missing-transaction'
  | 'failed-transaction'
  | 'bloom-mismatch'
  | 'log-gap'
  | 'missing-logs'
  | 'missing-block'
  | 'repeated-signature'
  | 'wrong-balance'
  | 'wrong-signature';

/** An answer that contradicts itself or another answer: never used, counted, and requested again, from another URL if possible. */
export class ProviderContradiction extends Error {
  readonly kind: ContradictionKind;

  constructor(kind: ContradictionKind, detail: string) {
    super(detail);
    this.name = 'ProviderContradiction';
    this.kind = kind;
  }
}

/** None of the configured URLs serves the configured chain. Never retried, because only a change of the configuration helps. */
export class WrongChain extends Error {
  constructor(detail: string) {
    super(detail);
    this.name = 'WrongChain';
  }
}

/** Messages of geth, Erigon, Nethermind, Infura, Alchemy, QuickNode, Ankr, dRPC, Avalanche and Base's public node. */
const TOO_LARGE = [
  /more than [\d,]+ (?:results|logs)/i,
  /too many (?:results|logs|blocks)/i,
  /exceed(?:s|ed|ing)?(?: the)? (?:max|limit|range|block range)/i,
  // The name of the part that is too large stands before the words: looking back from them reads 40 characters for each, not for each "size" of the text.
  /\b(?:exceed|too (?:large|wide|big|many))(?<=(?:range|results?|logs?|size|response)\b.{0,40}\b(?:exceed|too (?:large|wide|big|many)))/i,
  /(?:limited|up) to (?:a |an )?(?:[\d,]+ ?- ?)?[\d,]+k? ?-?(?:blocks?|range|results|logs)/i,
  /ranges? (?:over|greater than|larger than|of more than) [\d,]+/i,
  /max(?:imum)? (?:allowed )?(?:block )?range/i,
  /range must be less than/i,
  /query (?:timeout|timed out|timeout exceeded)/i,
  /batch (?:size )?(?:is )?too (?:large|big)|batch limit/i,
  /(?:payload|entity|body|request|content) too large/i,
];
const BUSY =
  /rate.?limit|too many requests|request count|throughput|capacity exceeded|try again (?:later|in)|compute units/i;
/** A daily or monthly quota is used up: a smaller request is refused too. */
const QUOTA = /\bquota\b|\bmonthly\b|\bdaily\b/i;
const PLAN = /\bplan\b.{0,40}\b(?:limit|exceed|exhaust)|\b(?:limit|exceed|exhaust).{0,40}\bplan\b/i;
/** A plan's size limit, which only a smaller request can meet. */
const SIZE = /\b(?:range|blocks?|results?|logs?|size|response)\b/i;
const CODE_LIMIT_EXCEEDED = -32_005;
const DETAIL_MAX_CHARS = 200;

/** Sorts a JSON-RPC error object. Codes are used differently by every provider, so the wording decides first. */
export function failureOfRpcError(method: string, error: unknown): RpcFailure {
  const { code, message } = readRpcError(error);
  const detail = `${method}: ${redactUrls(message)} (${code})`;
  if (BUSY.test(message) || QUOTA.test(message) || (PLAN.test(message) && !SIZE.test(message)))
    return new RpcFailure('busy', detail);
  if (TOO_LARGE.some((pattern) => pattern.test(message))) return new RpcFailure('too-large', detail);
  if (code === CODE_LIMIT_EXCEEDED || code === 429) return new RpcFailure('busy', detail);
  return new RpcFailure('refused', detail);
}

/** Sorts an HTTP status. */
export function failureOfStatus(status: number, retryAfter: string | null): RpcFailure {
  const detail = `HTTP status ${status}`;
  if (status === 429) return new RpcFailure('busy', detail, readRetryAfter(retryAfter));
  if (status === 413) return new RpcFailure('too-large', detail);
  return new RpcFailure('unavailable', detail, readRetryAfter(retryAfter));
}

/** RFC 9110 10.2.3: seconds, or a date. Null for anything else. */
export function readRetryAfter(header: string | null, nowMs: number = Date.now()): number | null {
  if (header === null || header.trim() === '') return null;
  if (/^\d+$/.test(header.trim())) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}

export function readRpcError(error: unknown): { code: number; message: string } {
  if (typeof error !== 'object' || error === null) return { code: 0, message: String(error) };
  const code = 'code' in error && typeof error.code === 'number' ? error.code : 0;
  const message = 'message' in error && typeof error.message === 'string' ? error.message : '';
  return { code, message };
}

/** A provider's message may quote the called URL, key included. */
function redactUrls(text: string): string {
  return text.replace(/\b(?:https?|wss?):\/\/\S+/gi, '[url]').slice(0, DETAIL_MAX_CHARS);
}
