import {
  AGENT_CARDS,
  AGENT_CLAIMS,
  AGENT_FEEDBACK_FILES,
  AGENT_WALLETS,
  AGENTS,
  AGENTS_DUE,
  FEEDBACK_FILES,
} from './agents.ts';
import {
  BUILDER_CODES,
  CATALOGUE_CHANGES,
  CATALOGUE_PASSES,
  CATALOGUED_PAYEES,
  FACILITATOR_RELAYERS,
  REGRADE_PROGRESS,
  RELAYER_ACCOUNTS,
  RELAYER_DECISIONS,
  RELAYER_FUNDERS,
  SUPPORTED_SIGNERS,
} from './catalogues.ts';
import { HOUR_VER, RETRACTED_KEYS, SETTLEMENT_CHANGES, TRANSACTION_TIMES } from './changes.ts';
import { CHANNEL_ROWS } from './channel-rows.ts';
import {
  ENDPOINT_COUNTS,
  ENDPOINT_LIST,
  ENDPOINT_OFFERS,
  ENDPOINT_SOURCES,
  OFFER_ACTIVITY,
  PAYEE_ACTIVITY,
} from './endpoints.ts';
import { FEE_HOURS, TRANSACTION_FEES } from './fees.ts';
import {
  LARGE_WALLET_REFUNDS,
  LARGE_WALLETS,
  LARGEST_PAIR_PASSES,
  LARGEST_PAIRS,
  PROPOSAL_PASSES,
  PROPOSED_RELAYERS,
  RANKED_FACILITATORS,
  RANKED_WALLETS,
  RANKING_PASSES,
  RELAYER_TOTAL_PASSES,
  RELAYER_TOTALS,
  RING_PASSES,
  TWO_WAY_WALLETS,
  VERDICT_PASSES,
  WALLET_RINGS,
  WALLET_VERDICTS,
} from './generations.ts';
import { SETTLEMENT_HISTORY, WALLET_HISTORY } from './history.ts';
import { BLOCKS, CHAIN_STATUS, CHECKPOINTS, DEAD_LETTERS, FENCES } from './ingest-state.ts';
import { PLAIN_COVERAGE, PLAIN_MONTHS, PLAIN_SETTLEMENTS } from './plain-settlements.ts';
import {
  AGENT_ATTESTATIONS,
  AGENT_CHANGES,
  AGENT_EVENTS,
  ATTESTATIONS,
  FEEDBACK_REVOCATIONS,
} from './registries.ts';
import {
  CHAIN_HOUR,
  PAIR_DAY,
  PAIR_DAY_BY_PAYEE,
  PAYEE_DAY,
  PAYER_DAY,
  RELAYER_DAY,
  ROLLUP_SLICES,
  ROLLUP_STATE,
} from './rollups.ts';
import { SETTLEMENTS } from './settlements.ts';
import type { Placement, Table } from './table.ts';
import { WALLET_ID_KEYS } from './wallet-ids.ts';
import { WALLET_ROWS, WALLET_SEEN } from './wallet-rows.ts';

/** What a retraction changes, in the order in which it does: keys before the tombstones that hide them, marks after them. */
const RETRACTED: readonly Table[] = [
  RETRACTED_KEYS,
  SETTLEMENTS,
  HOUR_VER,
  SETTLEMENT_CHANGES,
  WALLET_ROWS,
  CHANNEL_ROWS,
  TRANSACTION_FEES,
  DEAD_LETTERS,
  AGENT_EVENTS,
  ATTESTATIONS,
  AGENT_ATTESTATIONS,
  FEEDBACK_REVOCATIONS,
  FEEDBACK_FILES,
  AGENT_FEEDBACK_FILES,
  AGENT_CHANGES,
];

/** Every table, and the view over rollups. One that is missing here fails a test, and the migration of a cluster. */
export const ALL_TABLES: readonly Table[] = [
  ...RETRACTED,
  ...[
    WALLET_SEEN,
    TRANSACTION_TIMES,
    FEE_HOURS,
    ROLLUP_STATE,
    ROLLUP_SLICES,
    PAYEE_DAY,
    PAYER_DAY,
    RELAYER_DAY,
    CHAIN_HOUR,
  ],
  ...[PAIR_DAY, PAIR_DAY_BY_PAYEE],
  ...[SETTLEMENT_HISTORY, WALLET_HISTORY],
  ...[PLAIN_SETTLEMENTS, PLAIN_MONTHS, PLAIN_COVERAGE, WALLET_ID_KEYS],
  ...[RELAYER_TOTALS, RELAYER_TOTAL_PASSES, WALLET_RINGS, RING_PASSES, WALLET_VERDICTS, VERDICT_PASSES],
  ...[LARGE_WALLETS, LARGE_WALLET_REFUNDS],
  ...[RANKED_WALLETS, TWO_WAY_WALLETS, RANKED_FACILITATORS, RANKING_PASSES],
  ...[LARGEST_PAIRS, LARGEST_PAIR_PASSES],
  ...[PROPOSED_RELAYERS, PROPOSAL_PASSES],
  ...[BLOCKS, CHECKPOINTS, CHAIN_STATUS, FENCES],
  ...[FACILITATOR_RELAYERS, CATALOGUED_PAYEES, BUILDER_CODES, SUPPORTED_SIGNERS, RELAYER_DECISIONS],
  ...[RELAYER_ACCOUNTS, RELAYER_FUNDERS, CATALOGUE_PASSES, CATALOGUE_CHANGES, REGRADE_PROGRESS],
  ...[AGENT_CARDS, AGENTS, AGENTS_DUE, AGENT_WALLETS, AGENT_CLAIMS],
  ...[ENDPOINT_OFFERS, ENDPOINT_SOURCES, PAYEE_ACTIVITY, OFFER_ACTIVITY, ENDPOINT_COUNTS, ENDPOINT_LIST],
];

export const PLACEMENTS: Readonly<Record<string, Placement>> = Object.fromEntries(
  ALL_TABLES.map(({ name, placement }) => [name, placement]),
);

/** Every table whose rows replace each other by a version, with the column that holds it. */
export const VERSIONED: readonly (readonly [table: string, column: 'ver' | 'gen'])[] = ALL_TABLES.flatMap(
  ({ name, versions = [] }) => versions.map((column) => [name, column] as const),
);
