import type { Reader } from '../../clickhouse/engine/engine.ts';
import type { Clock } from '../../core/clock.ts';
import type { Lane, Standing, Surface } from '../../core/domain/caller.ts';
import type { Chain, TokenFacts, TokenKey } from '../../core/domain/chains.ts';
import type { CursorKeys } from '../../core/domain/cursor.ts';
import type { Hold } from '../../core/domain/hold.ts';
import type { KeyRight } from '../../core/domain/key-right.ts';
import type { SettledPayment } from '../../core/domain/payment.ts';
import type { Plan, PlanId } from '../../core/domain/plan.ts';
import type { SqlSandbox } from '../../sandbox/sandbox.ts';
import type { DatasetFacts } from './dataset.ts';
import type { Freshness } from './index-state/freshness.ts';
import type { Rollups } from './index-state/rollups.ts';
import type { Snapshots } from './index-state/snapshots.ts';
import type { Names } from './names.ts';
import type { Method } from './params.ts';
import type { Price } from './prices.ts';

/** The caller of an operation, and what every operation may use. What a resource needs in addition it declares in its own folder. */

/** The credential of the request and the caller behind it. */
export interface Caller {
  readonly keyPresent: boolean;
  /** Null when no key was sent; false when one was sent and resolves to nothing. */
  readonly keyRecognised: boolean | null;
  readonly standing: Standing;
  /** Null without an organization; also when a key names one whose row cannot be read (`organizationMissing`). */
  readonly organization: CallerOrganization | null;
  readonly organizationMissing: boolean;
  /** Our key that was sent; null without one, also for a bearer token. Absent where the caller was made for a test. */
  readonly key?: CallerKey | null;
}

/** A key as the gate and the operations of the account know it. */
export interface CallerKey {
  readonly id: string;
  readonly managesKeys: boolean;
  /** Whether the console lends it to its visitors: it is one key for all of them, and a stranger to what the organization keeps. */
  readonly isLent: boolean;
  /** What it may do beyond reading and spending. */
  readonly rights: readonly KeyRight[];
  /** The operations that it may call; null for all. */
  readonly operations: readonly string[] | null;
  readonly expiresAtMs: number | null;
}

interface CallerOrganization {
  readonly id: string;
  readonly displayName: string;
  readonly plan: PlanId;
}

export interface CallContext {
  readonly caller: Caller;
  readonly surface: Surface;
  /** Which lane this caller takes on a metered route. */
  readonly lane: Lane;
  /** What was paid for this call over x402; null on other lanes. */
  readonly payment: SettledPayment | null;
  readonly idempotencyKey: string | undefined;
  /** Names the caller, for fair turns: one organization, one key, one address. Holds no secret. */
  readonly callerName: string;
  /** The units that are held for this call; null on other lanes. */
  readonly hold: Hold | null;
}

/** What every operation may use. What a resource needs in addition extends it in the folder of the resource; create-deps.ts makes all. */
export interface OperationDeps {
  readonly share: ShareRun;
  /** Bound to the request: its statements stop when the caller leaves. */
  readonly reader: Reader;
  /** Bound to the request: its queries stop when the caller leaves. */
  readonly sql: BoundSandbox;
  readonly clock: Clock;
  readonly cursorKeys: CursorKeys;
  readonly deployment: Deployment;
  readonly index: IndexFacts;
}

/**
 * Runs work that is the same for every caller once for all who ask at the same time. `name` says everything that the answer depends on; the
 * reader is that of the run, whose statements stop when all of its callers have left. Rejects with a `Failure` when `left` aborts.
 */
export type ShareRun = <Answer>(
  name: string,
  run: (reader: Reader) => Promise<Answer>,
  left?: AbortSignal,
) => Promise<Answer>;

/** One line of the price list: an operation without its behaviour. */
export interface PriceListEntry {
  readonly id: string;
  readonly method: Method;
  readonly path: string;
  readonly price: Price;
}

/** What the configuration of this deployment says. */
export interface Deployment {
  /** The chains that it indexes. */
  readonly chains: readonly Chain[];
  /** Where a chain’s rows are sample data: up to this block. */
  readonly sampleDataTo: ReadonlyMap<Chain, number>;
  /** How each chain is called, and the block explorer to link to. */
  readonly chainFacts: ReadonlyMap<Chain, { readonly name: string; readonly explorerUrl: string | null }>;
  /** Decimals of the tokens that it knows. */
  readonly tokenDecimals: ReadonlyMap<TokenKey, number>;
  readonly version: string;
  readonly startedAtMs: number;
  /** The URL callers use, without a trailing slash; '' when the deployment does not know it. */
  readonly publicUrl: string;
  readonly priceList: readonly PriceListEntry[];
  readonly plans: Readonly<Record<PlanId, Plan>>;
  /** Whether single calls can be bought here over x402. */
  readonly sellsCalls: boolean;
  /** In which tokens; the first is offered first. */
  readonly paidIn: readonly {
    readonly chain: Chain;
    readonly token: Pick<TokenFacts, 'address' | 'symbol'>;
  }[];
}

/** Facts about the index as a whole. */
export interface IndexFacts {
  readonly freshness: Freshness;
  readonly snapshots: Snapshots;
  readonly names: Names;
  readonly dataset: DatasetFacts;
  readonly rollups: Rollups;
  /** Throws `upstream_unavailable` while the index cannot be read: before any answer that is paid for in advance is sold. */
  ready(): Promise<void>;
}

/** The sandbox without its signals, which the surface adds. */
export interface BoundSandbox {
  openTo: SqlSandbox['openTo'];
  openNow: SqlSandbox['openNow'];
  inspect: SqlSandbox['inspect'];
  placeholders: SqlSandbox['placeholders'];
  suggest: SqlSandbox['suggest'];
  run(query: Parameters<SqlSandbox['run']>[0]): ReturnType<SqlSandbox['run']>;
  estimate(query: Parameters<SqlSandbox['estimate']>[0]): ReturnType<SqlSandbox['estimate']>;
  readUpload(upload: Parameters<SqlSandbox['readUpload']>[0]): ReturnType<SqlSandbox['readUpload']>;
  progress: SqlSandbox['progress'];
  cancel: SqlSandbox['cancel'];
}
