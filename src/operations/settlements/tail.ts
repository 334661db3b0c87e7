import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, sql } from '../../../clickhouse/engine/sql.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { Position } from '../../../core/domain/settlement.ts';
import { Failure } from '../../../core/errors.ts';
import type { Log } from '../../../core/log.ts';
import type { Meter } from '../../../core/meter.ts';
import { ask } from '../ask.ts';
import type { ChainStatus } from '../index-state/chain-status.ts';
import { type FinalityFilter, finalOnly, onChain } from '../index-state/finality.ts';
import { newestEntry, newsAfter, readHorizon } from './changes.ts';
import { isAtOrAbove, readFeed, readNewest } from './feed.ts';
import { EVERY_SETTLEMENT } from './filters.ts';
import type { SettlementPage } from './slice-walk.ts';
import {
  DIGEST_COLUMNS,
  digestOf,
  pageOf,
  type RowsDigest,
  type TailRows,
  tailOf,
  withRowsSince,
} from './tail-rows.ts';

/**
 * The newest settlements, kept in memory by each process: of all chains, and of each chain that is asked for. While someone asks, what was
 * written is read from `settlement_changes` several times a second, and the rows from the oldest second that it touched are read again;
 * without requests the engine is asked nothing. docs/design/storage.md, "The newest pages come from memory".
 */
export interface Tails {
  /** Undefined where the page reaches below the held rows. Throws `upstream_unavailable` as reading the page would. */
  page(query: TailQuery, statuses: ReadonlyMap<Chain, ChainStatus>): Promise<TailPage | undefined>;
}

interface TailQuery {
  readonly chain: Chain | undefined;
  readonly finality: FinalityFilter;
  readonly limit: number;
  readonly before: Position | undefined;
}

/** A first page is the same object for as long as its rows and the statuses are the same. */
export interface TailPage extends SettlementPage {
  /** The horizon from before the rows were read. */
  readonly complete: number;
}

export interface TailTimes {
  /** A tail that is older is renewed while it is still served. */
  readonly refreshAfterMs: number;
  /** No row that was written so long before the request is missing. Zero: each request waits for news from after its arrival. */
  readonly maxAgeMs: number;
  /** How often a tail is compared with the engine. */
  readonly checkAfterMs: number;
}

export interface TailDeps {
  /** Of the process: the rows read serve every caller. */
  readonly reader: Reader;
  readonly clock: Clock;
  readonly newestTime: () => Promise<number | null>;
  readonly log: Log;
  readonly meter: Meter | null;
  readonly times?: TailTimes | undefined;
}

export const TAIL_TIMES: TailTimes = { refreshAfterMs: 100, maxAgeMs: 1_000, checkAfterMs: 10_000 };
const RESOURCE = 'settlements';
const MAX_SECONDS = 10;
/** Rows that a new tail begins with. It grows as rows are written. */
const FIRST_ROWS = 500;
/** Reading and decoding that many takes some milliseconds; where more were touched, only the newest are kept. */
const RENEWED_MAX = 500;
/** After so long without a request, reading the newest rows is cheaper than following what was written. */
const IDLE_MAX_MS = 60_000;
/** Differences in a row after which a tail is discarded. One alone can be an insert that was seen in the table and not in its view. */
const DIFFERENCES_MAX = 3;
const RECHECK_AFTER_MS = 1_000;
/** First pages that are kept for the same rows: every combination of a few limits and both finalities. */
const PAGES_MAX = 32;

interface State extends Facts {
  readonly rows: TailRows;
  /** When it was read, by the clock of `performance.now()`: every write that was acknowledged before is in it. */
  readonly readAtMs: number;
}

interface Facts {
  /** The horizon from before the rows were read, in microseconds of the engine. */
  readonly complete: number;
  /** The newest entry of the log: that it is gone means that the log was emptied. 0 where there was none. */
  readonly newest: number;
}

export function createTails(deps: TailDeps): Tails {
  const { meter } = deps;
  const tails = new Map<Chain | undefined, Tail>();
  const tailFor = (chain: Chain | undefined): Tail => {
    const tail = tails.get(chain) ?? new Tail(deps, chain);
    tails.set(chain, tail);
    return tail;
  };
  return {
    async page(query, statuses) {
      const page = await tailFor(query.chain).page(query, statuses);
      meter?.count('feed_pages_total', { source: page === undefined ? 'engine' : 'memory' });
      return page;
    },
  };
}

/** One list: of a chain, or of all. */
class Tail {
  private readonly deps: TailDeps;
  private readonly times: TailTimes;
  private readonly chain: Chain | undefined;
  private state: State | undefined;
  private underWay: Promise<State> | undefined;
  private readonly check: { nextAtMs: number; differences: number };
  private kept: {
    readonly rows: TailRows;
    readonly statuses: ReadonlyMap<Chain, ChainStatus>;
    readonly pages: Map<string, TailPage>;
  } | null = null;

  constructor(deps: TailDeps, chain: Chain | undefined) {
    this.deps = deps;
    this.times = deps.times ?? TAIL_TIMES;
    this.chain = chain;
    this.check = { nextAtMs: performance.now() + this.times.checkAfterMs, differences: 0 };
  }

  async page(
    { finality, limit, before }: TailQuery,
    statuses: ReadonlyMap<Chain, ChainStatus>,
  ): Promise<TailPage | undefined> {
    const { rows, complete } = await this.current();
    const read = (): TailPage | undefined => {
      const page = pageOf(rows, { before, limit, final: finalOnly(finality, statuses) });
      return page === undefined ? undefined : { ...page, complete };
    };
    if (before !== undefined) return read();
    if (this.kept?.rows !== rows || this.kept.statuses !== statuses)
      this.kept = { rows, statuses, pages: new Map() };
    const { pages } = this.kept;
    const name = `${finality} ${limit}`;
    const page = pages.get(name) ?? read();
    if (page !== undefined && pages.size < PAGES_MAX) pages.set(name, page);
    return page;
  }

  /** The tail, no older than it may be. */
  private async current(): Promise<State> {
    const nowMs = performance.now();
    const { state } = this;
    if (state === undefined) return this.readSince(nowMs - this.times.maxAgeMs);
    if (nowMs >= this.check.nextAtMs) this.inBackground(() => this.compare(nowMs));
    if (state.readAtMs < nowMs - this.times.maxAgeMs) return this.readSince(nowMs - this.times.maxAgeMs);
    if (state.readAtMs < nowMs - this.times.refreshAfterMs) this.inBackground(() => this.renew());
    return state;
  }

  /** As it was at that time or later. */
  private async readSince(neededMs: number): Promise<State> {
    for (;;) {
      // One that began before may not have seen what the caller has.
      const state = await this.renew();
      if (state.readAtMs >= neededMs) return state;
    }
  }

  /** One at a time, for all callers. */
  private renew(): Promise<State> {
    this.underWay ??= this.read().finally(() => {
      this.underWay = undefined;
    });
    return this.underWay;
  }

  private inBackground(work: () => Promise<unknown>): void {
    work().catch((error: unknown) => {
      // The next caller who has to wait for the tail is answered with it.
      if (error instanceof Failure) return;
      this.state = undefined;
      this.deps.log.error({ err: error }, 'the newest settlements in memory could not be renewed');
    });
  }

  private async read(): Promise<State> {
    const startedMs = performance.now();
    const { state } = this;
    const isFollowed = state !== undefined && startedMs - state.readAtMs < IDLE_MAX_MS;
    const next =
      (isFollowed ? await this.follow(state, startedMs) : undefined) ?? (await this.fill(startedMs));
    // Unless it was discarded during the read.
    if (this.state === state) this.state = next;
    return next;
  }

  /** From the engine, as a page of the list is read. */
  private async fill(readAtMs: number): Promise<State> {
    const { reader } = this.deps;
    const { complete } = await readHorizon(reader);
    const newest = await newestEntry(reader);
    const query = {
      ...EVERY_SETTLEMENT,
      chain: this.chain,
      before: undefined,
      final: undefined,
      limit: FIRST_ROWS,
    };
    const { rows, nextBefore } = await readFeed(this.deps, query);
    return { rows: tailOf(rows, nextBefore), complete, newest, readAtMs };
  }

  /** With what was written since; undefined where the log of changes does not tell. */
  private async follow({ rows, complete, newest }: State, readAtMs: number): Promise<State | undefined> {
    const { reader } = this.deps;
    const horizon = await readHorizon(reader);
    const news = await newsAfter(reader, {
      chain: this.chain,
      from: complete,
      newest,
      notBefore: rows.floor?.blockTime ?? 0,
    });
    if (news === undefined) return undefined;
    return {
      rows: news.since === undefined ? rows : await this.renewed(rows, news.since),
      complete: Math.max(complete, horizon.complete),
      newest: news.newest,
      readAtMs,
    };
  }

  private async renewed(tail: TailRows, since: number): Promise<TailRows> {
    const rows = await readNewest(this.deps.reader, { chain: this.chain, since, limit: RENEWED_MAX });
    return withRowsSince(tail, { since, rows, isAll: rows.length < RENEWED_MAX });
  }

  /** Compares the tail with what the engine holds in the same range, once at a time. */
  private async compare(nowMs: number): Promise<void> {
    const { check, times } = this;
    check.nextAtMs = Number.POSITIVE_INFINITY;
    let restMs = Math.min(RECHECK_AFTER_MS, times.checkAfterMs);
    try {
      const held = await this.readSince(nowMs);
      const [engine, memory] = [await this.digest(held.rows.floor), digestOf(held.rows)];
      const isEqual = engine.count === memory.count && engine.sum === memory.sum;
      // Written to during the read: no difference yet.
      if (!isEqual && (await this.readSince(performance.now())).rows !== held.rows) return;
      check.differences = isEqual ? 0 : check.differences + 1;
      if (!isEqual && check.differences < DIFFERENCES_MAX) return;
      restMs = times.checkAfterMs;
      this.conclude({ engine, memory, isEqual });
    } finally {
      check.nextAtMs = performance.now() + restMs;
    }
  }

  private conclude(compared: {
    readonly engine: RowsDigest;
    readonly memory: RowsDigest;
    readonly isEqual: boolean;
  }): void {
    const { log, meter } = this.deps;
    const { engine, memory, isEqual } = compared;
    meter?.count('feed_checks_total', { outcome: isEqual ? 'equal' : 'different' });
    if (isEqual) return;
    this.check.differences = 0;
    this.state = undefined;
    log.error(
      { chain: this.chain ?? 'all', engine, memory },
      'the newest settlements in memory differ from those of the engine, and are read again',
    );
  }

  private async digest(floor: Position | undefined): Promise<RowsDigest> {
    const range = [...onChain(this.chain), ...(floor === undefined ? [] : [isAtOrAbove(floor)])];
    const { rows } = await ask(this.deps.reader, RESOURCE, {
      name: 'feed-check',
      maxSeconds: MAX_SECONDS,
      maxRows: 1,
      settings: { do_not_merge_across_partitions_select_final: 1 },
      sql: sql`SELECT ${DIGEST_COLUMNS} FROM (SELECT * FROM settlements FINAL WHERE ${allOf(range)}) WHERE del = 0`,
    });
    const [count, sum] = rows[0] ?? [];
    return { count: integerField(count), sum: integerField(sum) };
  }
}
