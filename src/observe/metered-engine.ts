import { EngineError, type Guest, type Reader, type Writer } from '../../clickhouse/engine/engine.ts';
import { type Meter, secondsSince } from '../../core/meter.ts';
import { statementName, watchedPort } from '../../core/process/watched-port.ts';

/**
 * Counts the statements of a port to the engine by their names. `user` is the engine user behind it: `reader`, `writer`, `guest`;
 * the guest's queries for callers are all called `sql-run`.
 */
export function meteredEngine<Port extends Reader | Writer | Guest>(
  port: Port,
  user: string,
  meter: Meter,
): Port {
  return watchedPort(
    port,
    async (call, work) => {
      const startedMs = performance.now();
      const statement = statementName(call);
      let outcome = 'ok';
      try {
        return await work();
      } catch (error) {
        outcome = error instanceof EngineError ? error.problem : 'failed';
        throw error;
      } finally {
        meter.count('engine_statements_total', { statement, user, outcome });
        meter.observe('engine_statement_seconds', { statement, user }, secondsSince(startedMs));
      }
    },
    ['close'],
  );
}
