import type { Static, TObject } from '@sinclair/typebox';
import type { Reader } from '../../clickhouse/engine.ts';
import type { Clock } from '../clock.ts';
import type { ApiKey } from '../domain/api-key.ts';
import type { Chain } from '../domain/chain.ts';
import type { CursorKeys } from '../domain/cursor.ts';
import type { Lane, Standing, Surface } from '../domain/lane.ts';
import type { SettledPayment } from '../domain/payment.ts';
import type { Plan, PlanId } from '../domain/plan.ts';
import type { UnitBalance } from '../domain/query-unit.ts';
import type { ErrorCode } from '../errors.ts';
import type { DatasetFacts } from '../reads/dataset.ts';
import type { Freshness } from '../reads/freshness.ts';
import type { Graphs } from '../reads/graphs.ts';
import type { Names } from '../reads/names.ts';
import type { Relayers } from '../reads/relayers.ts';
import type { Rollups } from '../reads/rollup-coverage.ts';
import type { InputOf, ParamFacts, Params } from './params.ts';
import type { Price } from './prices.ts';
import { readInput } from './read-input.ts';

/**
 * An operation is declared once and projected to the HTTP route, OpenAPI, the price list, the documentation and (later) the
 * MCP tool. `run` receives its dependencies and never knows which surface called (design.md 5).
 */

/** What was sent as a credential, and what it turned out to be. */
export interface Caller {
  readonly keyPresent: boolean;
  /** Null when no key was sent; false when one was sent and resolves to nothing. */
  readonly keyRecognised: boolean | null;
  readonly standing: Standing;
  /** Null without an organization; also when a key names one whose row cannot be read (`organizationMissing`). */
  readonly organization: CallerOrganization | null;
  readonly organizationMissing: boolean;
}

export interface CallerOrganization {
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
}

/** What operations may ask of the accounts. Rejects with a `Failure`. */
export interface Accounts {
  /** Null for an organization that is not there. */
  balance(organizationId: string): Promise<UnitBalance | null>;
  /**
   * The trial key that a settled payment bought. `already_issued`: it bought one before, and the caller cannot show the
   * Idempotency-Key of that purchase.
   */
  issueTrialKey(
    payment: SettledPayment,
    idempotencyKey: string | undefined,
  ): Promise<
    | { readonly outcome: 'issued'; readonly apiKey: ApiKey; readonly expiresAtMs: number }
    | { readonly outcome: 'already_issued' }
  >;
}

/** One line of the price list: an operation without its behaviour. */
export interface PriceListEntry {
  readonly id: string;
  readonly method: 'GET';
  readonly path: string;
  readonly price: Price;
}

/** Everything an operation may use. */
export interface OperationDeps {
  /** Bound to the request: its statements stop when the caller leaves. */
  readonly reader: Reader;
  readonly clock: Clock;
  readonly cursorKeys: CursorKeys;
  /** The chains this deployment indexes. */
  readonly chains: readonly Chain[];
  readonly version: string;
  readonly startedAtMs: number;
  /** The URL callers use, without a trailing slash; '' when the deployment does not know it. */
  readonly publicUrl: string;
  readonly freshness: Freshness;
  readonly names: Names;
  readonly dataset: DatasetFacts;
  readonly rollups: Rollups;
  readonly graphs: Graphs;
  readonly relayers: Relayers;
  readonly priceList: readonly PriceListEntry[];
  readonly accounts: Accounts;
  readonly plans: Readonly<Record<PlanId, Plan>>;
  /** Whether single calls can be bought here over x402. */
  readonly sellsCalls: boolean;
}

/** What validity may depend on. */
export type CheckFacts = ParamFacts & Pick<OperationDeps, 'cursorKeys'>;

export interface Operation<P extends Params = Params, Output extends TObject = TObject> {
  /** camelCase; the MCP tool is its snake_case. */
  readonly id: string;
  readonly method: 'GET';
  /** Below the version prefix, parameters in braces: `/entities/{wallet}/settlements`. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly price: Price;
  readonly params: P;
  readonly output: Output;
  /** Codes this operation itself can answer with, beside those every route has. */
  readonly fails: readonly ErrorCode[];
  /** How the answer continues: a `next_before` cursor, a `next_offset`, or not at all. */
  readonly paging: 'before' | 'offset' | 'none';
  /** Status of a good answer, 200 unless something is made. */
  readonly status?: 200 | 201;
  /** What a cache may do. `revalidate`: keep, but ask with the ETag each time. */
  readonly caching: 'revalidate' | 'no-store';
  /** True where an unknown key is answered instead of refused (read-api.md 5.3). */
  readonly acceptsUnknownKey: boolean;
  /** A true answer, abridged, for the documentation. Tested against `output`. */
  readonly example: Static<Output>;
  /**
   * Refuses with `invalid_parameter` what one parameter alone cannot tell. Called with the other checks, before anything is
   * charged: no refusal of a request may wait for `run`.
   */
  check?(input: InputOf<P>, facts: CheckFacts): void;
  run(input: InputOf<P>, deps: OperationDeps, context: CallContext): Promise<Static<Output>>;
}

/** Declares an operation; infers the input of `run` from `params` and its answer from `output`. */
export function defineOperation<P extends Params, Output extends TObject>(
  operation: Operation<P, Output>,
): Operation<P, Output> {
  return operation;
}

/** An operation whose parameter and answer types are erased, for tables that hold several. */
export interface AnyOperation extends Omit<Operation, 'run' | 'check'> {
  /** Reads the raw parameters (texts from HTTP, JSON values elsewhere) or throws `invalid_parameter`; returns the run. */
  prepare(raw: Readonly<Record<string, unknown>>, facts: CheckFacts): PreparedRun;
}

export type PreparedRun = (deps: OperationDeps, context: CallContext) => Promise<Record<string, unknown>>;

export function erase<P extends Params, Output extends TObject>(
  operation: Operation<P, Output>,
): AnyOperation {
  const { run, check, ...declared } = operation;
  return {
    ...declared,
    prepare: (raw, facts) => {
      const input = readInput(operation.params, raw, facts);
      check?.(input, facts);
      // A TObject's answer is an object; TypeScript cannot see that through Static of a type parameter.
      return (deps, context) => run(input, deps, context) as Promise<Record<string, unknown>>;
    },
  };
}
