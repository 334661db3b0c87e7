import { EngineError, type Guest } from '../../clickhouse/engine/engine.ts';
import { ESTIMATE_MAX_SECONDS } from '../limits.ts';
import type { PlannedQuery, Planning } from '../run/planning.ts';
import { StoppedLate } from '../run/watchdog.ts';
import type { Accepted } from './inspect.ts';
import { refuse } from './refusal.ts';
import { checkResolved, RESOLVE_QUESTION, type ResolvedPolicy } from './resolved-tree.ts';

/** Asks the engine what the names of an accepted query mean, and judges that. Once for each verdict. */
export type Resolve = (query: PlannedQuery, planning: Planning) => Promise<void>;

export interface ResolveDeps {
  readonly guest: Pick<Guest, 'explain'>;
  readonly policy: ResolvedPolicy;
}

/** Rejects with `Refused`, `EngineError` or `CallerLeft`. */
export function createResolve({ guest, policy }: ResolveDeps): Resolve {
  // A verdict is remembered for the engine, the policy, the text and the parameters: what follows from them is kept with it.
  const resolved = new WeakSet<Accepted>();
  return async ({ accepted }, planning) => {
    if (resolved.has(accepted)) return;
    const lines = await linesOf(guest, planning);
    checkResolved(lines, policy);
    resolved.add(accepted);
  };
}

/**
 * Without rows first: what names mean follows from types alone, and subqueries that give a single value cost nothing then. Such a
 * subquery is NULL where a constant may be needed, as in `LIMIT (SELECT …)`: what fails is asked again with the rows there.
 */
async function linesOf(guest: Pick<Guest, 'explain'>, planning: Planning): Promise<readonly string[]> {
  const ask = async (withoutRows: boolean): Promise<readonly string[]> => {
    const question = {
      guest,
      name: 'sql-resolve',
      question: RESOLVE_QUESTION,
      withoutRows,
      showScalars: true,
    };
    return (await planning.ask(question)).map(([line]) => String(line));
  };
  try {
    return await ask(true).catch((error: unknown) => {
      if (error instanceof EngineError && error.problem === 'engine_refused') return ask(false);
      throw error;
    });
  } catch (error) {
    if (!tookTooMuch(error)) throw error;
    return refuse('too_complex', {
      detail: `Its constants and the subqueries that give a single value take longer than ${ESTIMATE_MAX_SECONDS} seconds to compute.`,
      hint: 'Write such a subquery as WITH name AS (SELECT …) and join it.',
    });
  }
}

function tookTooMuch(error: unknown): boolean {
  if (error instanceof StoppedLate) return error.obeyed;
  return error instanceof EngineError && ['timeout', 'memory', 'too_many_rows'].includes(error.problem);
}
