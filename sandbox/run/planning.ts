import { randomUUID } from 'node:crypto';
import { EngineError, type Guest, type Row, type TableConstants } from '../../clickhouse/engine/engine.ts';
import type { Place } from '../../core/process/places.ts';
import type { Accepted } from '../judge/inspect.ts';
import { parametersAsSent } from '../judge/literals/parameters.ts';
import { refuse } from '../judge/refusal.ts';
import { checkResolved, RESOLVE_QUESTION, type ResolvedPolicy } from '../judge/resolved.ts';
import { ESTIMATE_IDLE_MAX_SECONDS, ESTIMATE_MAX_SECONDS } from '../limits.ts';
import type { ResultColumn } from '../results/column-type.ts';
import type { SandboxQuery } from '../sandbox.ts';
import type { Admission } from './admission.ts';
import { attachedTables } from './attached.ts';
import { StoppedLate, type Watchdog, type Watched } from './watchdog.ts';

/**
 * Asks the engine how it would run an accepted query: `EXPLAIN …`. Planning computes constants and scalar subqueries, so these
 * statements are watched like queries, and one deadline bounds all of them.
 */
export interface Planning {
  /** The lines of the plan. Rejects with `StoppedLate`, `CallerLeft` or `EngineError`. */
  ask(question: PlanQuestion): Promise<readonly Row[]>;
  /** A whole run within the same deadline, for queries that read nothing of the index. Rejects like `ask`. */
  run<Result>(work: (queryId: string, signal: AbortSignal) => Promise<Result>): Promise<Result>;
  /** Gives the place back when the engine has ended every statement, possibly after the caller left. */
  leave(place: Place): void;
}

export interface PlanQuestion {
  readonly guest: Pick<Guest, 'explain'>;
  /** kebab-case, for the log. */
  readonly name: string;
  /** The statement about the accepted text, for example `EXPLAIN ESTIMATE …`. */
  readonly question: (text: string) => string;
  /** Whether the public tables appear empty to this statement. */
  readonly withoutRows?: boolean;
  /** Whether the plan shows scalar subqueries. */
  readonly showScalars?: boolean;
  /** Of a query that needs them (table-constants.ts). */
  readonly constants?: TableConstants;
}

export interface PlanningDeps {
  readonly watchdog: Watchdog;
  readonly admission: Pick<Admission, 'punish'>;
}

export type PlannedQuery = Pick<SandboxQuery, 'accepted' | 'parameters' | 'caller'>;

export function openPlanning(
  { watchdog, admission }: PlanningDeps,
  { accepted, parameters, caller }: PlannedQuery,
  signal: AbortSignal,
): Planning {
  const deadline = performance.now() + ESTIMATE_MAX_SECONDS * 1_000;
  const asked: Pick<Watched<unknown>, 'gone' | 'free'>[] = [];
  const run: Planning['run'] = (work) => {
    const queryId = randomUUID();
    const order = {
      queryId,
      maxMs: Math.max(0, deadline - performance.now()),
      idleMaxMs: ESTIMATE_IDLE_MAX_SECONDS * 1_000,
      caller: signal,
      onUnstoppable: () => admission.punish({ text: accepted.text, caller }),
    };
    const watched = watchdog.watch(order, (until) => work(queryId, until));
    asked.push(watched);
    return watched.outcome;
  };
  return {
    run,
    ask({ guest, name, question, withoutRows = false, showScalars = false, constants }) {
      const statement = {
        name,
        text: question(accepted.text),
        parameters: parametersAsSent(accepted.parameters, parameters),
        maxSeconds: ESTIMATE_MAX_SECONDS + ESTIMATE_IDLE_MAX_SECONDS,
        withoutRows,
        showScalars,
        ...(constants === undefined ? {} : { constants }),
      };
      return run(async (queryId, until) => {
        const attached = await attachedTables(accepted.own, { withoutRows });
        return guest.explain({ ...statement, attached, queryId }, until);
      });
    },
    leave(place) {
      const gone = Promise.all(asked.map((one) => one.gone)).then(() => undefined);
      void Promise.all(asked.map((one) => one.free)).then(() => place.leaveBehind(gone));
    },
  };
}

/** Lets the engine resolve the names of an accepted query, and judges the result (judge/resolved.ts). Once per verdict. */
export type Resolve = (query: PlannedQuery, planning: Planning) => Promise<void>;

export interface ResolveDeps {
  readonly guest: Pick<Guest, 'explain'>;
  readonly policy: ResolvedPolicy;
}

/** Rejects with `Refused`, `EngineError` or `CallerLeft`. */
export function createResolve({ guest, policy }: ResolveDeps): Resolve {
  // A verdict is cached by engine, policy, text and parameters; this judgement depends on the same four.
  const resolved = new WeakSet<Accepted>();
  return async ({ accepted }, planning) => {
    if (resolved.has(accepted)) return;
    checkResolved(await resolvedLines(guest, planning), policy);
    resolved.add(accepted);
  };
}

/**
 * With empty tables names resolve by types alone, and scalar subqueries then cost nothing. But a scalar subquery is then NULL, which fails
 * where a constant is needed, as in `LIMIT (SELECT …)`; a failed statement is repeated with the rows.
 */
async function resolvedLines(guest: Pick<Guest, 'explain'>, planning: Planning): Promise<readonly string[]> {
  const rows = await askOfTypes(planning, {
    guest,
    name: 'sql-resolve',
    question: (text) => `${RESOLVE_QUESTION} ${text}`,
    showScalars: true,
  });
  return rows.map(([line]) => String(line));
}

/** The columns of the result, as the engine names and types them. */
export async function describedColumns(
  guest: Pick<Guest, 'explain'>,
  planning: Planning,
): Promise<readonly ResultColumn[]> {
  const rows = await askOfTypes(planning, {
    guest,
    name: 'sql-describe',
    question: (text) => `DESCRIBE TABLE (${text})`,
  });
  return rows.map(([name, type]) => ({ name: String(name), type: String(type) }));
}

/** A question that depends on types: first with empty tables, and with the rows where that fails. */
async function askOfTypes(
  planning: Planning,
  question: Omit<PlanQuestion, 'withoutRows'>,
): Promise<readonly Row[]> {
  try {
    return await planning.ask({ ...question, withoutRows: true }).catch((error: unknown) => {
      if (error instanceof EngineError && error.problem === 'engine_refused') return planning.ask(question);
      throw error;
    });
  } catch (error) {
    if (!tookTooMuch(error)) throw error;
    return refuse('too_complex', {
      detail: `Its constants and the subqueries that give a single value take longer than ${ESTIMATE_MAX_SECONDS} seconds to compute.`,
      hint: 'Write the subquery as WITH name AS (SELECT …) and join it.',
    });
  }
}

function tookTooMuch(error: unknown): boolean {
  if (error instanceof StoppedLate) return error.obeyed;
  return error instanceof EngineError && ['timeout', 'memory', 'too_many_rows'].includes(error.problem);
}
