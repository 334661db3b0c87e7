import type { Address } from '../../src/domain/address.ts';
import type { RawLog } from '../sources/block-source.ts';
import type { DecodeContext } from './decode-context.ts';
import { WORD_CHARS } from './hex-word.ts';
import { TOPIC } from './log-topics.ts';

/** What a log is to us. Numbers, so that a batch's kinds are one byte array instead of an object per log. */
export const KIND = { other: 0, transfer: 1, authorization: 2, proxySettled: 3, malformed: 4 } as const;

export type LogKind = (typeof KIND)[keyof typeof KIND];

const EMPTY_DATA = '0x';

/**
 * Tells logs apart by emitter, topic0 and layout. Digits are not looked at: most logs are transfers that concern nobody,
 * and a row's words are validated when the row is built.
 */
export function kindOf(log: RawLog, context: Pick<DecodeContext, 'tokens' | 'proxies'>): LogKind {
  switch (log.topics[0]) {
    case TOPIC.transfer:
      return context.tokens.has(log.address) ? transferKind(log) : KIND.other;
    case TOPIC.authorizationUsed:
      return context.tokens.has(log.address) ? authorizationKind(log) : KIND.other;
    case TOPIC.permit2Settled:
    case TOPIC.permit2SettledWithPermit:
      return context.proxies.has(log.address) ? proxyKind(log) : KIND.other;
    default:
      return KIND.other;
  }
}

/** Four topics are an ERC-721 transfer: another event with the same topic0, so not ours rather than malformed. */
function transferKind({ topics, data }: RawLog): LogKind {
  if (topics.length === 4) return KIND.other;
  return hasWords(topics, 3) && data.length === WORD_CHARS ? KIND.transfer : KIND.malformed;
}

function authorizationKind({ topics, data }: RawLog): LogKind {
  return hasWords(topics, 3) && data === EMPTY_DATA ? KIND.authorization : KIND.malformed;
}

function proxyKind({ topics, data }: RawLog): LogKind {
  return hasWords(topics, 1) && data === EMPTY_DATA ? KIND.proxySettled : KIND.malformed;
}

function hasWords(topics: readonly string[], count: number): boolean {
  if (topics.length !== count) return false;
  for (let at = 1; at < count; at++) if (topics[at]?.length !== WORD_CHARS) return false;
  return true;
}

/** The kind of every log, by position. */
export function kindsOf(
  logs: readonly RawLog[],
  context: Pick<DecodeContext, 'tokens' | 'proxies'>,
): Uint8Array {
  const kinds = new Uint8Array(logs.length);
  for (let at = 0; at < logs.length; at++) {
    const log = logs[at];
    if (log !== undefined) kinds[at] = kindOf(log, context);
  }
  return kinds;
}

/** The emitters whose logs are asked for. */
export function emittersOf(context: Pick<DecodeContext, 'tokens' | 'proxies'>): Address[] {
  return [...context.tokens.keys(), ...context.proxies];
}
