/**
 * Where the rows of every table and view are on a cluster: the one declaration that the DDL, the documentation and the tests follow
 * (docs/decisions/0008-cluster.md). A table that is not named here fails a test and the migration.
 *
 * `key`: the shard of a row, as the engine's sharding expression. A slice of the rollups (a day, or an hour of it) has all of
 * its rows on one shard, and so has everything that is computed from it: a shard rolls up what it holds, and no reader has to
 * know that there are several.
 */
export interface Placement {
  /** Null: rows are where the view that makes them runs; nothing is ever inserted through the table of the whole cluster. */
  readonly key: string | null;
  /** Why there, for the documentation. */
  readonly why: string;
}

/** Days in turn, so that a month is on all shards alike and a day on one. */
const dayOf = (column: string, why: string): Placement => ({ key: `toUInt32(toDate(${column}))`, why });

const SLICES = 'computed on the shard of its slice, from the rows there';
const sliceOf = (column: string): Placement => dayOf(column, SLICES);

/** The first shard, whose weight must not be 0. */
const onFirst = (why: string): Placement => ({ key: '0', why });

const STATE = 'a few rows that claims and comparisons need in one place';
const state = onFirst(STATE);
const registry = onFirst(
  'agents and attestations are derived from one another by joins; a thousandth of the settlements',
);
const directory = onFirst('offers are joined with each other, and there are some ten thousand');

export const PLACEMENTS: Readonly<Record<string, Placement>> = {
  settlements: dayOf(
    'block_time',
    'all versions of a row and all rows of a slice on one shard, a month over all of them',
  ),
  wallet_log: {
    key: 'cityHash64(wallet)',
    why: 'a page of a wallet asks one shard, whatever its time',
  },
  wallet_seen: {
    key: null,
    why: 'made from the settlements of each shard; the newest of all shards counts',
  },
  hour_ver: dayOf('hour', 'made from the settlements of its shard, asked when their slices are computed'),
  retracted_keys: dayOf('hour', 'read together with the settlements of its slice'),
  rollup_state: sliceOf('day'),
  rollup_slices: { key: null, why: 'a view: every shard judges the slices whose rows it holds' },
  payee_day: sliceOf('day'),
  payer_day: sliceOf('day'),
  relayer_day: sliceOf('day'),
  chain_hour: sliceOf('hour'),
  relayer_totals: onFirst('one row of each relayer a pass'),
  relayer_total_passes: state,
  wallet_rings: onFirst('the rings of one pass, some hundred thousand rows'),
  ring_passes: state,
  blocks: onFirst('the reorg window of each chain, at most a month'),
  checkpoints: state,
  chain_status: state,
  dead_letters: onFirst('few, and looked for by chain'),
  facilitator_relayers: state,
  catalogued_payees: state,
  builder_codes: state,
  deposit_contracts: state,
  supported_signers: state,
  relayer_accounts: state,
  fences: onFirst('the highest token counts for all nodes'),
  catalogue_passes: state,
  catalogue_changes: state,
  regrade_progress: state,
  agent_events: registry,
  attestations: registry,
  agent_attestations: registry,
  feedback_revocations: registry,
  agent_changes: registry,
  agent_cards: registry,
  feedback_files: registry,
  agent_feedback_files: registry,
  agents: registry,
  agents_due: registry,
  agent_wallets: registry,
  endpoint_offers: directory,
  endpoint_sources: directory,
  payee_activity: directory,
  offer_activity: directory,
  endpoint_list: directory,
};
