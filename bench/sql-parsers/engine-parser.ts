import { createGuest } from '../../clickhouse/guest/engine.ts';
import type { SqlParser } from '../../sandbox/judge/parser.ts';
import { createEngineParser } from '../../sandbox/judge/parser.ts';
import { startBenchEngine } from '../support/bench-engine.ts';
import type { Workspace } from '../support/workspace.ts';

/** The product's own parser: the engine, asked as the guest. The workspace ends it. */
export async function openEngineParser(workspace: Workspace, name: string): Promise<SqlParser> {
  const engine = await startBenchEngine(workspace, name);
  const guest = createGuest(engine.access);
  workspace.defer(() => guest.close());
  return createEngineParser(guest);
}
