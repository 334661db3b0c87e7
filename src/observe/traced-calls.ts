import type { Tracer } from '../../core/tracer.ts';
import type { SqlSandbox } from '../../sandbox/sandbox.ts';
import type { Gate } from '../gate/gate.ts';
import type { AnyOperation, PreparedCall, ReviewedCall } from '../operations/define.ts';
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
  const reviewed = (call: ReviewedCall): ReviewedCall => ({
    run: (deps, context) =>
      tracer.span(named('run'), { operation: operation.id, lane: context.lane }, () =>
        call.run(deps, context),
      ),
    preflight: (deps, callerName) =>
      tracer.span(named('preflight'), { operation: operation.id }, () => call.preflight(deps, callerName)),
  });
  const prepared = (call: PreparedCall): PreparedCall => ({
    terms: call.terms,
    review: async (deps, callerName) =>
      reviewed(
        await tracer.span(named('review'), { operation: operation.id }, () => call.review(deps, callerName)),
      ),
  });
  return { ...operation, prepare: (raw, facts) => prepared(operation.prepare(raw, facts)) };
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
    inspect: (text) => tracer.span('sql inspect', {}, () => sandbox.inspect(text)),
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
