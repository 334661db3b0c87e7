import { EngineError, type Guest } from '../../clickhouse/engine/engine.ts';
import { Refused } from '../judge/refusal.ts';
import { checkResolved, RESOLVE_QUESTION, type ResolvedPolicy } from '../judge/resolved.ts';
import type { Admission } from '../run/admission.ts';
import { openPlanning, type PlannedQuery, type PlanningDeps } from '../run/planning.ts';

export interface TypeCheckDeps extends PlanningDeps {
  readonly guest: Pick<Guest, 'explain'>;
  readonly admission: Pick<Admission, 'admit' | 'punish'>;
  readonly policy: ResolvedPolicy;
}

/**
 * Lets the engine resolve the names and types of an accepted query over empty tables, which computes no subquery and reads no row.
 * In the places of estimates. Rejects where the engine or a place is not there.
 */
export function createTypeCheck(
  deps: TypeCheckDeps,
): (query: PlannedQuery, signal: AbortSignal) => Promise<boolean> {
  return (query, signal) =>
    deps.admission.admit(
      { caller: query.caller, text: query.accepted.text, load: 'plan' as const },
      signal,
      async (place) => {
        const planning = openPlanning(deps, query, signal);
        try {
          const question = {
            guest: deps.guest,
            name: 'sql-suggest',
            question: (text: string) => `${RESOLVE_QUESTION} ${text}`,
          };
          const lines = await planning.ask({ ...question, withoutRows: true, showScalars: true });
          checkResolved(
            lines.map(([line]) => String(line)),
            deps.policy,
          );
          return true;
        } catch (error) {
          if (error instanceof Refused) return false;
          if (error instanceof EngineError && error.problem === 'engine_refused') return false;
          throw error;
        } finally {
          planning.leave(place);
        }
      },
    );
}
