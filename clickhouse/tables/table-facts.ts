/**
 * Where the rows of a table or view are on a cluster (docs/decisions/0008-cluster.md).
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

/** When a table is copied while the index is written to; src/operate/backup/engine.ts says why in this order. */
export type BackupGroup = 'checkpoints' | 'done' | 'rows' | 'marks';

export interface TableFacts {
  readonly placement: Placement;
  /** Columns by whose highest value a row replaces an older one. */
  readonly versions?: readonly ('ver' | 'gen')[];
  /** Absent: `rows`. */
  readonly backup?: BackupGroup;
}

/**
 * What holds for each table and view beyond its columns: the one list that the DDL of a cluster, new versions, backups, the documentation
 * and the tests follow. A table that is not named here fails a test and the migration.
 */
export const TABLE_FACTS: Readonly<Record<string, TableFacts>> = {
  settlements: {
    placement: dayOf(
      'block_time',
      'all versions of a row and all rows of a slice on one shard, a month over all of them',
    ),
    versions: ['ver'],
  },
  wallet_log: {
    placement: {
      key: 'cityHash64(wallet)',
      why: 'a page of a wallet asks one shard, whatever its time',
    },
    versions: ['ver'],
  },
  wallet_seen: {
    placement: {
      key: null,
      why: 'made from the settlements of each shard; the newest of all shards counts',
    },
    backup: 'marks',
  },
  hour_ver: {
    placement: dayOf('hour', 'made from the settlements of its shard, asked when their slices are computed'),
    versions: ['ver'],
    backup: 'marks',
  },
  retracted_keys: {
    placement: dayOf('hour', 'read together with the settlements of its slice'),
    backup: 'marks',
  },
  rollup_state: { placement: sliceOf('day'), versions: ['gen', 'ver'], backup: 'done' },
  rollup_slices: {
    placement: { key: null, why: 'a view: every shard judges the slices whose rows it holds' },
  },
  payee_day: { placement: sliceOf('day'), versions: ['gen'] },
  payer_day: { placement: sliceOf('day'), versions: ['gen'] },
  relayer_day: { placement: sliceOf('day'), versions: ['gen'] },
  chain_hour: { placement: sliceOf('hour'), versions: ['gen'] },
  relayer_totals: { placement: onFirst('one row of each relayer a pass'), versions: ['gen'] },
  relayer_total_passes: { placement: state, versions: ['gen'], backup: 'done' },
  wallet_rings: {
    placement: onFirst('the rings of one pass, some hundred thousand rows'),
    versions: ['gen'],
  },
  ring_passes: { placement: state, versions: ['gen'], backup: 'done' },
  blocks: {
    placement: onFirst('the reorg window of each chain, at most a month'),
    versions: ['ver'],
    backup: 'done',
  },
  checkpoints: { placement: state, versions: ['ver'], backup: 'checkpoints' },
  chain_status: { placement: state, versions: ['ver'] },
  dead_letters: { placement: onFirst('few, and looked for by chain'), versions: ['ver'] },
  facilitator_relayers: { placement: state, versions: ['ver'] },
  catalogued_payees: { placement: state, versions: ['ver'] },
  builder_codes: { placement: state, versions: ['ver'] },
  deposit_contracts: { placement: state, versions: ['ver'] },
  supported_signers: { placement: state },
  relayer_accounts: { placement: state, versions: ['ver'] },
  fences: { placement: onFirst('the highest token counts for all nodes') },
  catalogue_passes: { placement: state, backup: 'done' },
  catalogue_changes: { placement: state, backup: 'done' },
  regrade_progress: { placement: state, versions: ['ver'], backup: 'done' },
  agent_events: { placement: registry, versions: ['ver'] },
  attestations: { placement: registry, versions: ['ver'] },
  agent_attestations: { placement: registry, versions: ['ver'] },
  feedback_revocations: { placement: registry, versions: ['ver'] },
  agent_changes: { placement: registry, backup: 'marks' },
  agent_cards: { placement: registry, versions: ['ver'] },
  feedback_files: { placement: registry, versions: ['ver'] },
  agent_feedback_files: { placement: registry, versions: ['ver'] },
  agents: { placement: registry, versions: ['ver'] },
  agents_due: { placement: registry },
  agent_wallets: { placement: registry, backup: 'marks' },
  endpoint_offers: { placement: directory, versions: ['ver'] },
  endpoint_sources: { placement: directory, versions: ['ver'] },
  payee_activity: { placement: directory, versions: ['ver'] },
  offer_activity: { placement: directory, versions: ['ver'] },
  endpoint_list: { placement: directory, versions: ['ver'] },
};
