import type { EngineAccess, Guest, Reader, Writer } from '../../clickhouse/engine/engine.ts';
import { statementName, watchedPort } from '../../core/process/watched-port.ts';
import type { Tracer } from '../../core/tracer.ts';

/** A span for each statement of a port to the engine: its name and user, never its text or its values. */
export function tracedEngine<Port extends Reader | Writer | Guest>(
  port: Port,
  user: string,
  tracer: Tracer,
): Port {
  return watchedPort(
    port,
    (call, work) => {
      const name = statementName(call);
      const facts = { 'db.system.name': 'clickhouse', 'db.operation.name': name, 'db.user': user };
      return tracer.span(`engine ${name}`, facts, work);
    },
    ['close'],
  );
}

/** The engine is told which span a statement belongs to: its own spans, where it writes any, lie below ours. */
export function tracedAccess(access: EngineAccess, tracer: Tracer): EngineAccess {
  return { ...access, headers: () => tracer.headers() };
}
