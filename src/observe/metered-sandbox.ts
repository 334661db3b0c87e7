import { EngineError } from '../../clickhouse/engine/engine.ts';
import type { Meter } from '../../core/meter.ts';
import { QueryAbandoned, QueryFailed, SandboxBusy, type SqlSandbox } from '../../sandbox/sandbox.ts';

const MS_PER_SECOND = 1_000;

/** Counts the queries of callers by tier: how they ended, their engine time and their wait. */
export function meteredSandbox<Sandbox extends SqlSandbox>(sandbox: Sandbox, meter: Meter): Sandbox {
  const run: SqlSandbox['run'] = async (query, signal) => {
    const { tier } = query;
    try {
      const result = await sandbox.run(query, signal);
      meter.count('sql_queries_total', { tier, outcome: 'ok' });
      meter.observe('sql_engine_seconds', { tier }, result.engineMs / MS_PER_SECOND);
      meter.observe('sql_wait_seconds', { tier }, result.queuedMs / MS_PER_SECOND);
      return result;
    } catch (error) {
      meter.count('sql_queries_total', { tier, outcome: outcomeOf(error) });
      throw error;
    }
  };
  return { ...sandbox, run };
}

/** A reason of the closed lists, or what kept the query from running. */
function outcomeOf(error: unknown): string {
  if (error instanceof QueryFailed) return error.reason;
  if (error instanceof SandboxBusy) return `busy_${error.reason}`;
  if (error instanceof QueryAbandoned) return 'abandoned';
  return error instanceof EngineError ? `engine_${error.problem}` : 'internal_error';
}
