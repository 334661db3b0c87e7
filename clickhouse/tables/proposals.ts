import type { Row, Statement } from '../engine/engine.ts';
import { sql, trustedText } from '../engine/sql.ts';
import { PROPOSED_RELAYERS } from './generations.ts';
import { reading, type TableRow } from './table.ts';

/** The relayers that are proposed as a facilitator's now (ingest/proposals), for everyone who reads them. */

export type Proposal = Omit<TableRow<typeof PROPOSED_RELAYERS>, 'gen'>;

/**
 * Condition on rows of `proposed_relayers`: of the newest pass, not refused, and not named by a catalogue since. `prefix` names the database,
 * ending in a dot, where the tables are not in the current one; `row` the rows.
 */
export function openProposalsText(prefix = '', row = ''): string {
  const key = `(${row}chain, ${row}address)`;
  return `${row}gen IN (SELECT max(gen) FROM ${prefix}proposal_passes)
    AND ${key} NOT IN (SELECT chain, address FROM ${prefix}relayer_decisions FINAL WHERE decision = 'refused' AND del = 0)
    AND ${key} NOT IN (SELECT chain, address FROM ${prefix}facilitator_relayers FINAL WHERE del = 0 AND source != 'proposed')`;
}

const PROPOSAL = reading(PROPOSED_RELAYERS, [
  'chain',
  'address',
  'score',
  'settlement_count',
  'relayed_count',
  'payer_count',
  'payer_spread',
  'shared_payer_count',
  'payee_count',
  'shared_payee_count',
  'shared_settlement_count',
  'shared_with',
  'supported_by',
  'funded_with',
  'first_seen',
  'last_seen',
]);

const MAX_SECONDS = 10;
/** A pass looks at 5,000 relayers at most (ingest/proposals/pass.ts). */
const PROPOSALS_MAX = 10_000;

/** All of them, the best first. */
export const OPEN_PROPOSALS: Statement = {
  name: 'proposed-relayers',
  maxSeconds: MAX_SECONDS,
  maxRows: PROPOSALS_MAX,
  sql: sql`SELECT ${PROPOSAL.columns} FROM proposed_relayers WHERE ${trustedText(openProposalsText())} ORDER BY score DESC, chain, address`,
};

/** From the answer to `OPEN_PROPOSALS`. */
export function decodeProposals(rows: readonly Row[]): readonly Proposal[] {
  return rows.map(PROPOSAL.read);
}
