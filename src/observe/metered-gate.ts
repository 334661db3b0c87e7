import { Failure } from '../../core/errors.ts';
import type { Meter } from '../../core/meter.ts';
import type { Gate } from '../gate/gate.ts';

/** Where no lane was taken: the call was refused before its run. */
const NO_LANE = 'none';

/** Counts what the gate makes of calls, and what was charged for them. */
export function meteredGate(gate: Gate, meter: Meter): Gate {
  return {
    checkToken: (request) => gate.checkToken(request),
    async call(request) {
      let outcome = 'ok';
      let chargedQu = 0;
      try {
        const answered = await gate.call(request);
        chargedQu = answered.chargedQu;
        return answered;
      } catch (error) {
        outcome = error instanceof Failure ? error.code : 'internal_error';
        // A failure that was kept for its Idempotency-Key was charged when it was new.
        if (request.progress.lane !== null) chargedQu = chargedFor(error);
        throw error;
      } finally {
        const operation = request.operation.id;
        const lane = request.progress.lane ?? NO_LANE;
        meter.count('calls_total', { operation, surface: request.surface, lane, outcome });
        if (chargedQu > 0) meter.count('units_charged_total', { operation, lane }, chargedQu);
      }
    },
  };
}

function chargedFor(error: unknown): number {
  return error instanceof Failure ? (error.context.charged?.chargedQu ?? 0) : 0;
}
