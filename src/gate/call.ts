import type { Config } from '../../core/config/config.ts';
import type { Answer } from '../operations/answer.ts';
import type { PreparedCall } from '../operations/define.ts';
import { admitEffects } from './access.ts';
import { admit } from './admit.ts';
import { admitKey, checkToken, identify, likelyCallerName, readCredential } from './caller.ts';
import { callMs } from './charge-units.ts';
import type { Gate, GateAnswer, GateRequest } from './gate.ts';
import { runOnce } from './idempotency.ts';
import { endedWithKey } from './key-watch.ts';
import { runAdmitted } from './run.ts';
import { createTools, type GateDeps, type GateTools } from './tools.ts';

/** The answer is that of the first check in `call` that fails. */
export function createGate(deps: GateDeps): Gate {
  const { bearer, access } = deps;
  const { requestsPerMinute } = access;
  const gate = createTools(deps);
  return {
    call: (request) => call(gate, request),
    checkToken: (request) => checkToken({ bearer, requestsPerMinute, ...gate.counter }, request),
    refuses: (operation, sender) => {
      const { load = 'page' } = operation;
      if (load !== 'query' && isOffered(operation, sender, access.anonymous)) return false;
      return gate.admission.refuses(load, () => likelyCallerName(sender, gate));
    },
    reads: gate.admission.reads,
  };
}

/** Whether a call without a payment is answered with its price, whatever its parameters are. */
function isOffered(
  { price }: Parameters<Gate['refuses']>[0],
  { credentials }: Parameters<Gate['refuses']>[1],
  anonymous: Config['access']['anonymous'],
): boolean {
  if (price.class === 'sold') return true;
  if (price.class === 'free' || (price.class === 'keyed' && anonymous === 'open')) return false;
  return credentials.authorization === undefined && credentials['x-api-key'] === undefined;
}

/** One call from its request to its answer: it is admitted, and with an Idempotency-Key run once. */
async function call(gate: GateTools, request: GateRequest): Promise<GateAnswer> {
  const { operation, charging } = request;
  const admitted = await admit(gate, request);
  const { identity, raw, read, prepared, access } = admitted;
  const { caller } = identity;
  // The lent key has many holders: none is given the answer of another.
  const key = caller.key?.isLent === true ? undefined : charging.idempotencyKey;
  const answer = await runOnce(
    { replies: gate.store.replies, clock: gate.clock, log: gate.log },
    { operation, access, key, raw, leaseMs: callMs(prepared.terms) },
    (once) => runAdmitted(gate, request, admitted, once),
  );
  // A replay costs nothing and was counted when it was new; units were counted when they were captured.
  if (!answer.replayed && access.by !== 'units')
    gate.usage?.countCall(caller, { operation: operation.id, usdMicros: answer.paidUsdMicros ?? null });
  return { ...answer, answer: watchKey(gate, request, read, answer.answer) };
}

/** The answer, whose events end once the call would be refused for its credential. */
function watchKey(gate: GateTools, request: GateRequest, read: PreparedCall, answer: Answer): Answer {
  const check = () => checkKey(gate, request, read);
  return endedWithKey(answer, { check, lookMs: gate.keyLookMs, log: gate.log });
}

/** Refuses what the call would be refused for now, if it were made again with its credential. */
async function checkKey(
  gate: GateTools,
  { operation, sender }: GateRequest,
  read: PreparedCall,
): Promise<void> {
  const { caller } = await identify(readCredential(sender.credentials), sender.address, gate.identity);
  admitKey(caller, operation);
  admitEffects(caller, operation, read);
}
