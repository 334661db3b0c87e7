import { randomUUID } from 'node:crypto';
import type { Guest, Row } from '../../clickhouse/engine/engine.ts';
import { parametersAsSent } from '../judge/parameter-texts.ts';
import { ESTIMATE_MAX_SECONDS } from '../limits.ts';
import type { SandboxQuery } from '../sandbox.ts';
import type { Penalties } from './penalties.ts';
import type { Place } from './places.ts';
import type { Quarantine } from './quarantine.ts';
import type { Watchdog, Watched } from './watchdog.ts';

/**
 * Questions to the engine about how it would run an accepted query: `EXPLAIN …`. While the engine plans it computes constants and
 * subqueries that give a single value, so these statements are watched as queries are, and bounded in time together.
 */
export interface Planning {
  /** The engine's lines. Rejects with `StoppedLate`, `CallerLeft` or `EngineError`. */
  ask(question: PlanQuestion): Promise<readonly Row[]>;
  /** Gives the place back when the engine is free again: it is the engine's and not the caller's. */
  leave(place: Place): void;
}

export interface PlanQuestion {
  readonly guest: Pick<Guest, 'explain'>;
  /** kebab-case, for the log. */
  readonly name: string;
  /** What stands before the query: `EXPLAIN ESTIMATE`, for example. */
  readonly question: string;
  /** Whether the public tables look empty to this statement. */
  readonly withoutRows?: boolean;
  /** Whether subqueries that give a single value are shown. */
  readonly showScalars?: boolean;
}

export interface PlanningDeps {
  readonly watchdog: Watchdog;
  readonly penalties: Penalties;
  readonly quarantine: Quarantine;
}

export type PlannedQuery = Pick<SandboxQuery, 'accepted' | 'parameters' | 'caller'>;

export function openPlanning(deps: PlanningDeps, query: PlannedQuery, signal: AbortSignal): Planning {
  const { watchdog, penalties, quarantine } = deps;
  const { accepted, parameters } = query;
  const deadline = performance.now() + ESTIMATE_MAX_SECONDS * 1_000;
  const asked: Pick<Watched<unknown>, 'gone' | 'free'>[] = [];
  return {
    ask({ guest, name, question, withoutRows = false, showScalars = false }) {
      const queryId = randomUUID();
      const order = {
        queryId,
        maxMs: Math.max(0, deadline - performance.now()),
        caller: signal,
        onUnstoppable: () => {
          quarantine.add(accepted.text);
          penalties.add(query.caller);
        },
      };
      const statement = {
        name,
        text: `${question} ${accepted.text}`,
        parameters: parametersAsSent(accepted.parameters, parameters),
        maxSeconds: ESTIMATE_MAX_SECONDS,
        queryId,
        withoutRows,
        showScalars,
      };
      const watched = watchdog.watch(order, (until) => guest.explain(statement, until));
      asked.push(watched);
      return watched.outcome;
    },
    leave(place) {
      const gone = Promise.all(asked.map((one) => one.gone)).then(() => undefined);
      void Promise.all(asked.map((one) => one.free)).then(() => place.leaveBehind(gone));
    },
  };
}
