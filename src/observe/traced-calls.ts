import type { Tracer } from '../../core/tracer.ts';
import type { SqlSandbox } from '../../sandbox/sandbox.ts';
import type { Gate } from '../gate/gate.ts';
import type { AnyOperation, PreparedCall } from '../operations/define.ts';
import type { Facilitator, PaymentToSettle } from '../payment/facilitator.ts';

/** Spans between the request and the engine: gate, operation, payment, SQL. */

/** Puts calls of the gate into spans. */
export function tracedGate(gate: Gate, tracer: Tracer): Gate {
  return {
    checkToken: (request) => gate.checkToken(request),
    call: (request) => {
      const facts = { operation: request.operation.id, surface: request.surface };
      return tracer.span('gate', facts, async (span) => {
        const answer = await gate.call(request);
        span.tell({ charged_qu: answer.chargedQu, replayed: answer.replayed });
        return answer;
      });
    },
  };
}

/** Puts the runs of an operation into spans, apart from what the gate does around them. */
export function tracedOperation(operation: AnyOperation, tracer: Tracer): AnyOperation {
  const named = (part: string): string => `${part} ${operation.id}`;
  const facts = { operation: operation.id };
  const prepared = ({ terms, review, preflight, run }: PreparedCall): PreparedCall => ({
    terms,
    ...(review && { review: (deps) => tracer.span(named('review'), facts, () => review(deps)) }),
    ...(preflight && {
      preflight: (deps, callerName) =>
        tracer.span(named('preflight'), facts, () => preflight(deps, callerName)),
    }),
    run: (deps, context) =>
      tracer.span(named('run'), { ...facts, lane: context.lane }, () => run(deps, context)),
  });
  return { ...operation, prepare: (raw, checkFacts) => prepared(operation.prepare(raw, checkFacts)) };
}

/** Puts questions to the facilitator into spans: what it said, nothing of the payment. */
export function tracedFacilitator(facilitator: Facilitator, tracer: Tracer): Facilitator {
  const traced = <Answer extends { readonly outcome: string }>(
    stage: string,
    payment: PaymentToSettle | null,
    ask: () => Promise<Answer>,
  ): Promise<Answer> =>
    tracer.span(`payment ${stage}`, payment === null ? {} : { chain: payment.chain }, async (span) => {
      const answer = await ask();
      span.tell({ outcome: answer.outcome });
      return answer;
    });
  return {
    verify: (payment, signal) => traced('verify', payment, () => facilitator.verify(payment, signal)),
    settle: (payment) => traced('settle', payment, () => facilitator.settle(payment)),
    announced: () => traced('announced', null, () => facilitator.announced()),
  };
}

/** Puts the stages of callers’ SQL into spans. */
export function tracedSandbox<Sandbox extends SqlSandbox>(sandbox: Sandbox, tracer: Tracer): Sandbox {
  const stages: SqlSandbox = {
    openTo: () => sandbox.openTo(),
    openNow: () => sandbox.openNow(),
    inspect: (text, parameters) => tracer.span('sql inspect', {}, () => sandbox.inspect(text, parameters)),
    estimate: (query, signal) => tracer.span('sql estimate', {}, () => sandbox.estimate(query, signal)),
    run: (query, signal) =>
      tracer.span('sql run', { tier: query.tier, format: query.format }, async (span) => {
        const result = await sandbox.run(query, signal);
        span.tell({ queued_ms: result.queuedMs, engine_ms: result.engineMs, rows: result.resultRows });
        return result;
      }),
  };
  return { ...sandbox, ...stages };
}
