import { setTimeout as delay } from 'node:timers/promises';
import { accountText } from '../../clickhouse/engine/account.ts';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { type Sql, sql, text, uint32 } from '../../clickhouse/engine/sql.ts';
import { RELAYER_ACCOUNTS, RELAYER_FUNDERS } from '../../clickhouse/tables/catalogues.ts';
import { insertRows } from '../../clickhouse/tables/table.ts';
import type { ChainConfig } from '../../core/config/chains.ts';
import { type Address, address, ZERO_ADDRESS } from '../../core/domain/account.ts';
import type { Log } from '../../core/log.ts';
import { type AccountFacts, AccountsUnread, type BlockSource } from '../chain/block-source.ts';
import { WrongChain } from '../chain/rpc/failure.ts';
import { untilAcknowledged } from '../write/batch-writer.ts';
import type { Versions } from '../write/versions.ts';

/**
 * Reads nonce and balance of relayers' accounts from the chain, of the busiest and every named one, in rounds while the worker runs, and once
 * who first funded each named and each proposed one.
 * Nothing depends on it, so it takes a small share of the permitted requests and never retries a refused one, to leave following the
 * chain unaffected. After a failure the last values stay, with the time when they were read.
 */

export interface EnrichLimits {
  /** From the start of one round to the start of the next. */
  readonly roundMs: number;
  /** Until the next try, after a round that failed or found no relayer to read. */
  readonly retryMs: number;
  readonly busiestMax: number;
  readonly namedMax: number;
  /** Accounts of which one round reads who funded them. */
  readonly fundersMax: number;
}

export const ENRICH_LIMITS: EnrichLimits = {
  roundMs: 300_000,
  retryMs: 30_000,
  busiestMax: 500,
  namedMax: 1_000,
  fundersMax: 4,
};

/** Share of the permitted requests; backfill and the head keep the rest. */
const RATE_SHARE = 0.1;
/** A batch of requests delays the next request by their slots: at most this long. */
const HEAD_WAIT_MAX_MS = 100;
const CALLS_PER_ACCOUNT = 2;
/** The halvings of 100 million blocks, and two blocks. */
const CALLS_PER_FUNDER = 27 * CALLS_PER_ACCOUNT + 2;
/** A refused question pauses its URL, which following the chain needs too: a node without old states is asked for them once a day. */
const FUNDERS_RETRY_MS = 86_400_000;
const ACCOUNTS_PER_READ_MAX = 10;
const ACCOUNTS_PER_INSERT = 100;
const CHOOSE_MAX_SECONDS = 60;
/** What the rollups may not have yet. */
const RECENT_DAYS = 2;

export interface EnrichDeps {
  readonly config: Pick<ChainConfig, 'chain' | 'requestsPerSecond'>;
  readonly source: Pick<BlockSource, 'accounts' | 'funder'>;
  readonly writer: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly limits?: Partial<EnrichLimits>;
}

/** Ends when the signal aborts, or when no configured URL serves the chain. */
export async function enrichRelayers(deps: EnrichDeps): Promise<void> {
  const { config, log, signal } = deps;
  const limits = { ...ENRICH_LIMITS, ...deps.limits };
  let fundersFromMs = 0;
  try {
    while (!signal.aborted) {
      const startedMs = performance.now();
      const isDone = await enrichOnce(deps, limits);
      if (isDone && startedMs >= fundersFromMs && !(await readFunders(deps, limits.fundersMax)))
        fundersFromMs = startedMs + FUNDERS_RETRY_MS;
      const spentMs = performance.now() - startedMs;
      const pauseMs = isDone ? Math.max(limits.retryMs, limits.roundMs - spentMs) : limits.retryMs;
      await delay(pauseMs, undefined, { signal });
    }
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof WrongChain)) throw error;
    log.warn({ chain: config.chain }, 'relayers are not enriched: no RPC URL serves this chain');
  }
}

/** One round; false when there was no relayer to read or the node failed. */
async function enrichOnce(deps: EnrichDeps, limits: EnrichLimits): Promise<boolean> {
  const { config, source, log, signal } = deps;
  const addresses = await chooseRelayers(deps, limits);
  const callsMax = (config.requestsPerSecond * HEAD_WAIT_MAX_MS) / 1_000;
  const perRead = Math.min(ACCOUNTS_PER_READ_MAX, Math.max(1, Math.floor(callsMax / CALLS_PER_ACCOUNT)));
  const pauseMs = (perRead * CALLS_PER_ACCOUNT * 1_000) / (config.requestsPerSecond * RATE_SHARE);
  let unwritten: AccountFacts[] = [];
  try {
    for (let at = 0; at < addresses.length; at += perRead) {
      if (at > 0) await delay(pauseMs, undefined, { signal });
      unwritten.push(...(await source.accounts(addresses.slice(at, at + perRead))));
      if (unwritten.length < ACCOUNTS_PER_INSERT) continue;
      await saveAccounts(deps, unwritten);
      unwritten = [];
    }
    await saveAccounts(deps, unwritten);
  } catch (error) {
    if (!(error instanceof AccountsUnread)) throw error;
    log.warn({ chain: config.chain, err: error }, 'relayers not enriched, their last values stay');
    await saveAccounts(deps, unwritten);
    return false;
  }
  log.debug({ chain: config.chain, relayers: addresses.length }, 'relayers enriched');
  return addresses.length > 0;
}

/** Of a few accounts; false where a question was refused, as by a node without old states. */
async function readFunders(deps: EnrichDeps, max: number): Promise<boolean> {
  const { config, source, writer, versions, log, signal } = deps;
  for (const account of await accountsOf(deps, 'enrich-unfunded', unfundedSql(config.chain, max), max)) {
    try {
      const funder = (await source.funder(account)) ?? ZERO_ADDRESS;
      await untilAcknowledged(log, signal, () =>
        insertRows(writer, {
          name: 'enrich-funder',
          table: RELAYER_FUNDERS,
          rows: [{ address: account, funder }],
          fixed: { chain: config.chain, ver: versions.next() },
        }),
      );
    } catch (error) {
      if (!(error instanceof AccountsUnread)) throw error;
      log.debug(
        { chain: config.chain, err: error },
        'who funds relayers is not known: no node has old states',
      );
      return false;
    }
    await delay((CALLS_PER_FUNDER * 1_000) / (config.requestsPerSecond * RATE_SHARE), undefined, { signal });
  }
  return true;
}

/** Named and proposed relayers that have sent something and whose funder was not read; at random, as one that cannot be read must not hold up others. */
function unfundedSql(chain: string, max: number): Sql {
  const on = sql`chain = ${text(chain)}`;
  return sql`SELECT ${accountText('address')} FROM relayer_accounts FINAL WHERE ${on} AND nonce > 0
      AND address NOT IN (SELECT address FROM relayer_funders WHERE ${on})
      AND (address IN (SELECT address FROM facilitator_relayers FINAL WHERE ${on} AND del = 0)
        OR address IN (SELECT address FROM proposed_relayers WHERE ${on} AND gen IN (SELECT max(gen) FROM proposal_passes)))
    ORDER BY rand() LIMIT ${uint32(max)}`;
}

function chooseRelayers(deps: EnrichDeps, limits: EnrichLimits): Promise<Address[]> {
  const { busiestMax, namedMax } = limits;
  return accountsOf(deps, 'enrich-choose', chooseSql(deps.config.chain, limits), busiestMax + namedMax);
}

async function accountsOf(
  { writer, log, signal }: EnrichDeps,
  name: string,
  statement: Sql,
  maxRows: number,
): Promise<Address[]> {
  const { rows } = await untilAcknowledged(log, signal, () =>
    writer.rows({
      ...{ name, maxSeconds: CHOOSE_MAX_SECONDS, maxRows, sql: statement },
      settings: { max_threads: 1 },
    }),
  );
  return rows.map((row) => address(String(row[0])));
}

/**
 * The approximately busiest: versions are not merged, and recent rows may be in the rollup too. This only selects the accounts to read.
 * Counts two days before the newest row, not before now, because a chain that stood still has busy relayers too.
 */
function chooseSql(chain: string, { busiestMax, namedMax }: EnrichLimits): Sql {
  const on = sql`chain = ${text(chain)}`;
  return sql`SELECT ${accountText('address')} FROM (
      SELECT relayer AS address FROM (
        SELECT relayer, settlement_count FROM relayer_day WHERE ${on}
        UNION ALL
        SELECT relayer, toUInt64(1) FROM settlements
        WHERE block_time >= (SELECT max(block_time) FROM settlements) - toIntervalDay(${uint32(RECENT_DAYS)}) AND ${on} AND del = 0)
      GROUP BY relayer HAVING sum(settlement_count) > 0
      ORDER BY sum(settlement_count) DESC, relayer LIMIT ${uint32(busiestMax)}
      UNION DISTINCT
      SELECT address FROM (SELECT address, del FROM facilitator_relayers FINAL WHERE ${on}) WHERE del = 0
      ORDER BY address LIMIT ${uint32(namedMax)})`;
}

async function saveAccounts(
  { config, writer, versions, log, signal }: EnrichDeps,
  accounts: readonly AccountFacts[],
): Promise<void> {
  if (accounts.length === 0) return;
  const readAt = Math.floor(Date.now() / 1_000);
  const rows = accounts.map(({ address, nonce, balance }) => ({ address, nonce, gasBalance: balance }));
  await untilAcknowledged(log, signal, () =>
    insertRows(writer, {
      name: 'enrich-save',
      table: RELAYER_ACCOUNTS,
      rows,
      fixed: { chain: config.chain, enrichedAt: readAt, ver: versions.next() },
    }),
  );
}
