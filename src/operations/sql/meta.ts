import type { Snapshot } from '../../../core/domain/snapshot.ts';
import type { Accepted } from '../../../sandbox/judge/inspect.ts';
import { stateFor } from '../as-of.ts';
import type { OperationDeps } from '../deps.ts';
import { type Meta, metaAnswer } from '../meta.ts';
import { SQL_LEFT_OUT } from './as-of.ts';
import { type SqlWarning, sqlWarning, textWarnings } from './shapes.ts';

/** What an answer of SQL says about the index, and about the text that ran. */

/** As of before the query: what it reads can only be newer. */
export async function metaNow(deps: OperationDeps, asked?: Snapshot): Promise<Meta> {
  const { index, deployment, clock } = deps;
  const { chains } = deployment;
  const statuses = await index.freshness.statuses();
  const { meta } = await stateFor(deps, asked, { chain: undefined, leftOut: SQL_LEFT_OUT });
  return metaAnswer({ chain: undefined, chains, statuses, nowMs: clock.nowMs(), finality: 'any', ...meta });
}

export async function warningsOf(accepted: Accepted, deps: OperationDeps, meta: Meta): Promise<SqlWarning[]> {
  return [
    ...(await textWarnings(accepted, deps)),
    ...(meta.warnings ?? []).map((code) => sqlWarning({ code })),
  ];
}
