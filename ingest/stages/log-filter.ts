import type { Hash } from '../../src/domain/settlement.ts';
import type { LogFilter, RawLog } from '../sources/block-source.ts';
import type { DecodeContext } from './decode-context.ts';
import { addressInWord } from './hex-word.ts';
import { emittersOf, KIND, kindOf } from './log-kind.ts';
import { TOPIC } from './log-topics.ts';
import { TOPICS_OF_ROLE } from './registry-topics.ts';

/**
 * What to fetch for a chain, and which logs make a transaction worth reading: every settlement has a candidate log in its
 * own transaction, so whatever `decodeBatch` needs of a transaction is there.
 */
export function logFilterOf(context: DecodeContext): LogFilter {
  return {
    addresses: emittersOf(context),
    topics: topicsOf(context),
    isCandidate: (log) => isCandidate(log, context),
  };
}

function topicsOf({ registries }: DecodeContext): Hash[] {
  const events = [...registries.values()].flatMap((role) => TOPICS_OF_ROLE[role]);
  return [...new Set<Hash>([...Object.values(TOPIC), ...events])];
}

/** A registry's log needs its block alone, for the time; that its transaction is read with it costs little: they are rare. */
function isCandidate(log: RawLog, context: DecodeContext): boolean {
  switch (kindOf(log, context)) {
    case KIND.authorization:
    case KIND.proxySettled:
    case KIND.registry:
      return true;
    case KIND.transfer: {
      const payee = log.topics[2];
      return payee !== undefined && context.isCataloguedPayee(addressInWord(payee));
    }
    default:
      return false;
  }
}
