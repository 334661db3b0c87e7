import type { EngineAccess } from '../clickhouse/engine.ts';
import { createGuest } from '../clickhouse/guest-engine.ts';
import { createEngineParser } from '../sandbox/engine-parser.ts';
import { inspect } from '../sandbox/inspect.ts';
import { loadPolicy } from '../sandbox/policy.ts';
import type { SqlSandbox } from '../sandbox/sql-sandbox.ts';

/** The sandbox of an API process, over the guest of its engine. */
export function openSandbox(access: EngineAccess): SqlSandbox & { close(): Promise<void> } {
  const guest = createGuest(access);
  const deps = { parser: createEngineParser(guest), policy: loadPolicy() };
  const refuse = (): Promise<never> => Promise.reject(new Error('queries are not run yet'));
  return {
    inspect: (text, parameters) => inspect(text, parameters, deps),
    run: refuse,
    estimate: refuse,
    close: () => guest.close(),
  };
}
