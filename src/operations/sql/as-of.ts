import { AS_OF_TABLES, PUBLIC_TABLES } from '../../../core/domain/public-tables.ts';
import type { Snapshot } from '../../../core/domain/snapshot.ts';
import type { Accepted } from '../../../sandbox/judge/inspect.ts';
import { stateFor } from '../as-of.ts';
import { asOfParam } from '../common-params.ts';
import type { OperationDeps } from '../deps.ts';
import { type Meta, metaAnswer } from '../meta.ts';
import { invalid, type Param } from '../params.ts';

/** `as_of` of SQL: which texts can be asked of a snapshot, and what an answer says of the index. */

export const sqlAsOfParam: Param<Snapshot | undefined> = {
  ...asOfParam,
  in: 'body',
  component: 'SqlAsOf',
  toolText: 'Older `meta.snapshot`.',
  description: `\`meta.snapshot\` of an earlier answer: the tables as they were then, final rows alone. For ${AS_OF_TABLES.join(' and ')}; not with functions of time or chance. Guide: [snapshots](/docs/snapshots).`,
};

/** Columns that are NULL as of a snapshot. */
export const SQL_LEFT_OUT = AS_OF_TABLES.flatMap((table) =>
  PUBLIC_TABLES[table].asOf.leftOut.map((column) => `${table}.${column}`),
);

/** Functions whose value is another one each time. Names as the engine knows them, in lower case. */
const CHANGING =
  /^(?:rand|generateuuid)|^(?:now|now64|nowinblock|nowinblock64|today|yesterday|curdate|current_date|current_timestamp|utc_?timestamp|datetimetouuidv7|arrayshuffle|arraypartialshuffle|arrayrandomsample|grouparraysample)$/;

/** Rejects with `invalid_parameter` or `snapshot_gone` where the text has no answer as of the snapshot. */
export async function checkAsOf(
  asOf: Snapshot | undefined,
  accepted: Accepted,
  { index }: OperationDeps,
): Promise<void> {
  if (asOf === undefined) return;
  checkAsOfText(accepted);
  await index.snapshots.answerable(asOf);
}

/** Throws `invalid_parameter` for a text whose answer a snapshot does not fix. */
function checkAsOfText({ tables, functions }: Accepted): void {
  const known: readonly string[] = AS_OF_TABLES;
  const table = tables.find((name) => !known.includes(name));
  if (table !== undefined)
    throw invalid(
      'as_of',
      `${table} cannot be asked as of a snapshot; ${known.join(' and ')} can. Sums of days are to be made from them.`,
    );
  const changing = functions.find((name) => CHANGING.test(name.toLowerCase()));
  if (changing !== undefined)
    throw invalid(
      'as_of',
      `${changing} has another value each time, so its query has no answer as of a snapshot. Write the value.`,
    );
}

/** As of before the query: what it reads can only be newer. */
export async function metaNow(deps: OperationDeps, asked?: Snapshot): Promise<Meta> {
  const { index, deployment, clock } = deps;
  const { chains } = deployment;
  const statuses = await index.freshness.statuses();
  const { meta } = await stateFor(deps, asked, { chain: undefined, leftOut: SQL_LEFT_OUT });
  return metaAnswer({ chain: undefined, chains, statuses, nowMs: clock.nowMs(), finality: 'any', ...meta });
}
