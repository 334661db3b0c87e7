import type { EventsOf, LogFilter, RawLog } from '../chain/block-source.ts';
import type { DecodeContext } from './context.ts';
import { addressInWord } from './hex-word.ts';
import { emittersOf, KIND, kindOf } from './log-kind.ts';
import { TOPIC } from './log-topics.ts';
import { TOPICS_OF_ROLE } from './registry-topics.ts';

/**
 * What to fetch for a chain, and which logs make a transaction worth reading: every settlement has a candidate log in its
 * own transaction, so whatever `decodeBatch` needs of a transaction is there.
 */
export function logFilterOf(context: DecodeContext): LogFilter {
  const matters = whatMatters(context);
  return {
    addresses: emittersOf(context),
    topics: [...new Set(matters.flatMap(({ topics }) => topics))],
    matters,
    isCandidate: (log) => isCandidate(log, context),
  };
}

/** A Permit2 proxy's Transfer would say nothing, nor would a token's registration. */
function whatMatters({ tokens, proxies, registries }: DecodeContext): EventsOf[] {
  return [
    { addresses: [...tokens.keys()], topics: [TOPIC.transfer, TOPIC.authorizationUsed] },
    { addresses: [...proxies], topics: [TOPIC.permit2Settled, TOPIC.permit2SettledWithPermit] },
    ...[...registries].map(([address, role]) => ({ addresses: [address], topics: TOPICS_OF_ROLE[role] })),
  ];
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
