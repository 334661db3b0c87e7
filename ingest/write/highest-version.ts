import type { Writer } from '../../clickhouse/engine/engine.ts';
import { type Sql, sql, trustedText } from '../../clickhouse/engine/sql.ts';
import { TABLES } from '../../clickhouse/tables/schema.ts';

/** Reads one well compressed column of every table whole: two seconds at a hundred million rows. */
const MAX_SECONDS = 120;

/** Every table whose rows replace each other by a version, with the column that holds it: a test compares them with the schema. */
export const VERSIONED: readonly (readonly [table: string, column: 'ver' | 'gen'])[] = [
  [TABLES.settlements, 'ver'],
  [TABLES.walletLog, 'ver'],
  [TABLES.blocks, 'ver'],
  [TABLES.checkpoints, 'ver'],
  [TABLES.chainStatus, 'ver'],
  [TABLES.deadLetters, 'ver'],
  [TABLES.facilitatorRelayers, 'ver'],
  [TABLES.cataloguedPayees, 'ver'],
  [TABLES.hourVer, 'ver'],
  [TABLES.rollupState, 'gen'],
  [TABLES.payeeDay, 'gen'],
  [TABLES.payerDay, 'gen'],
  [TABLES.relayerDay, 'gen'],
  [TABLES.chainHour, 'gen'],
  [TABLES.agentEvents, 'ver'],
  [TABLES.attestations, 'ver'],
  [TABLES.feedbackRevocations, 'ver'],
  [TABLES.agentCards, 'ver'],
  [TABLES.feedbackFiles, 'ver'],
  [TABLES.agentFeedbackFiles, 'ver'],
  [TABLES.agents, 'ver'],
  [TABLES.endpointOffers, 'ver'],
  [TABLES.endpointSources, 'ver'],
  [TABLES.payeeActivity, 'ver'],
  [TABLES.offerActivity, 'ver'],
  [TABLES.endpointList, 'ver'],
  [TABLES.builderCodes, 'ver'],
  [TABLES.depositContracts, 'ver'],
  [TABLES.regradeProgress, 'ver'],
  [TABLES.relayerAccounts, 'ver'],
  [TABLES.agentAttestations, 'ver'],
  [TABLES.rollupState, 'ver'],
  [TABLES.walletRings, 'gen'],
  [TABLES.ringPasses, 'gen'],
  ['relayer_totals', 'gen'],
  ['relayer_total_passes', 'gen'],
];

/** Nothing that is written from now on may carry a version that a row already has, even if the clock was set back. */
export async function highestVersion(writer: Writer): Promise<bigint> {
  const maxima = VERSIONED.map(
    ([table, column]): Sql => sql`SELECT max(${trustedText(column)}) AS version FROM ${trustedText(table)}`,
  ).reduce((all, next) => sql`${all} UNION ALL ${next}`);
  const { rows } = await writer.rows({
    name: 'highest-version',
    sql: sql`SELECT max(version) FROM (${maxima})`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  return BigInt(String(rows[0]?.[0] ?? 0));
}
