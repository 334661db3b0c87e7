import { randomUUID } from 'node:crypto';
import type { Guest, Row } from '../clickhouse/engine.ts';
import { ESTIMATE_MAX_SECONDS } from './limits.ts';
import { parametersAsSent } from './parameter-texts.ts';
import type { Penalties } from './penalties.ts';
import type { Quarantine } from './quarantine.ts';
import type { SandboxQuery } from './sql-sandbox.ts';
import type { Watchdog } from './watchdog.ts';

/**
 * Questions to the engine about how it would run an accepted query: `EXPLAIN …`. While the engine plans it computes constants and
 * subqueries that give a single value, so these statements are watched as queries are, and bounded in time together.
 */
export interface Planning {
  /** The engine's lines. Rejects with `StoppedLate`, `CallerLeft` or `EngineError`. */
  ask(question: PlanQuestion): Promise<readonly Row[]>;
  /** Resolves when the engine has none of these statements any more. Never rejects. */
  gone(): Promise<void>;
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
  const asked: Promise<void>[] = [];
  return {
    ask({ guest, name, question, withoutRows = false, showScalars = false }) {
      const queryId = randomUUID();
      const order = {
        queryId,
        maxMs: Math.max(0, deadline - performance.now()),
        caller: signal,
        onDeaf: () => {
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
      const { outcome, gone } = watchdog.watch(order, (until) => guest.explain(statement, until));
      asked.push(gone);
      return outcome;
    },
    async gone() {
      await Promise.all(asked);
    },
  };
}
