import { foldAgents, naiveAgents } from './agents.ts';
import { cohorts, concentration, modalPrice, streaks } from './market.ts';
import { readNaively, readRangeNaively } from './naive-reader.ts';
import { trueCounterparties, truePair, trueRefunds, trueUsualPrice } from './pairs.ts';
import { settlementsOf, trueAggregates, trueSeen, trueShares } from './profile.ts';
import { rowsOfLogs } from './registries.ts';
import { createRecounter, totalsOf, totalsOfStoredRows } from './totals.ts';

/**
 * The right answer, found the slow and obvious way: loops over every row, bigints, generic decoders, no SQL and no code
 * of the product that is under test. One question has one answer here; tests ask `oracle` and compare with what the product
 * says. Each group is a file of this folder.
 */
export const oracle = {
  /** Every settlement that the receipts of a chain hold, or the settlements of some blocks (naive-reader.ts). */
  settlements: { ofChain: readNaively, ofBlocks: readRangeNaively },
  /** What settlements add up to by payee, payer, relayer and hour: of a simulated world, of rows, of the stored rows (totals.ts). */
  totals: { recounter: createRecounter, ofRows: totalsOf, ofStoredRows: totalsOfStoredRows },
  /** A wallet's profile: the settlements it is about, figures, days, shares (profile.ts). */
  profile: { settlements: settlementsOf, aggregates: trueAggregates, seen: trueSeen, shares: trueShares },
  /** What wallets paid each other (pairs.ts). */
  pairs: {
    counterparties: trueCounterparties,
    pair: truePair,
    refunds: trueRefunds,
    usualPrice: trueUsualPrice,
  },
  /** The rows that logs of the registries become (registries.ts). */
  registryRows: rowsOfLogs,
  /** Agents of ERC-8004 from their events: as contracts answer, or as the index derives them (agents.ts). */
  agents: { fold: foldAgents, derived: naiveAgents },
  /** The questions of docs/cookbook.md (market.ts). */
  market: { concentration, modalPrice, cohorts, streaks },
} as const;
