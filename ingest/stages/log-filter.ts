import type { LogFilter, RawLog } from '../sources/block-source.ts';
import type { DecodeContext } from './decode-context.ts';
import { addressInWord } from './hex-word.ts';
import { emittersOf, KIND, kindOf } from './log-kind.ts';
import { TOPIC } from './log-topics.ts';

/**
 * What to fetch for a chain, and which logs make a transaction worth reading: every settlement has a candidate log in its
 * own transaction, so whatever `decodeBatch` needs of a transaction is there.
 */
export function logFilterOf(context: DecodeContext): LogFilter {
  return {
    addresses: emittersOf(context),
    topics: Object.values(TOPIC),
    isCandidate: (log) => isCandidate(log, context),
  };
}

function isCandidate(log: RawLog, context: DecodeContext): boolean {
  switch (kindOf(log, context)) {
    case KIND.authorization:
    case KIND.proxySettled:
      return true;
    case KIND.transfer: {
      const payee = log.topics[2];
      return payee !== undefined && context.isCataloguedPayee(addressInWord(payee));
    }
    default:
      return false;
  }
}
