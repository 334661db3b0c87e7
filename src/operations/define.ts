import type { Static, TObject } from '@sinclair/typebox';
import type { Effect } from '../../core/domain/key-right.ts';
import type { SqlTierId } from '../../core/domain/plan.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { AuthorShare, Outcome } from './answer.ts';
import type { CallContext, Caller, OperationDeps } from './deps.ts';
import type { InputOf, Method, ParamFacts, Params } from './params.ts';
import type { Price } from './prices.ts';

/**
 * An operation is declared once and projected to the HTTP route, OpenAPI, the price list, the documentation and the MCP tool.
 * Its steps receive their dependencies and do not depend on the surface that called.
 */

/**
 * How much of the engine a call takes, for its place in the line of an overloaded process: `page` reads a few granules, `summary`
 * asks several things or aggregates, `query` is a caller's own and has lines of its own, `none` needs no engine.
 */
export type EngineLoad = 'none' | 'page' | 'summary' | 'query';

/** What one call costs and needs, where that depends on its input. */
export interface CallTerms {
  readonly price: Price;
  /** `price.qu` is held and the used units are charged; on the x402 lane a fixed payment covers `price.qu`. */
  readonly byUse: boolean;
  /** The tier that the caller's plan must include, and whose own rate limit counts; null for none. */
  readonly tier: SqlTierId | null;
  /**
   * Present where the run may hand its hold to a job (`Outcome.keepsHold`): how long the job may need it, in milliseconds. Its call
   * is paid for with units only.
   */
  readonly jobHoldMs?: number;
  /** The name of the sold call in an offer; the summary of the operation without it. */
  readonly describes?: string;
  /** Of a fixed payment: the author's part, without the most that the run may cost. */
  readonly share?: AuthorShare;
}

/** A query as its caller wrote it. */
export interface AskedQuery {
  readonly text: string;
  readonly tier: SqlTierId;
  readonly budgetQu: number;
}

/** The facts that validity may depend on. */
export type CheckFacts = ParamFacts & Pick<OperationDeps, 'cursorKeys'>;

/** Stands in the words of a tool for the URL under which the caller knows the service, without a slash at its end. */
export const PUBLIC_URL_MARK = '{publicUrl}';

/** How an operation is called, and what it answers: what routes, OpenAPI and tools are made of. */
interface Wire<P extends Params, Output extends TObject, Other extends TObject> {
  /** GET by default. */
  readonly method?: Method;
  /** Below the version prefix, parameters in braces: `/entities/{wallet}/settlements`. */
  readonly path: string;
  readonly params: P;
  /** True where the call takes further parameters, which what is stored under its path decides: `check` gets them as they were sent. */
  readonly takesOthers?: boolean;
  /** The body may be a file in place of the JSON object: what its media types say of the parameter `format`, and which field it is. */
  readonly file?: {
    readonly field: string;
    readonly media: Readonly<Record<string, string>>;
    readonly bytesMax: number;
  };
  readonly output: Output;
  /** Other shapes that an answer can have, in addition to `output`. */
  readonly alsoAnswers?: readonly Other[];
  /** Media types that an answer can have, each with what it holds; of a text also an example. */
  readonly media?: Readonly<Record<string, { readonly holds: string; readonly example?: string }>>;
  /** Headers that an answer of another media type can have, by name, each with what it says. */
  readonly answerHeaders?: Readonly<Record<string, string>>;
  /** Whether a `Range` is answered with a part of a file. */
  readonly takesRanges?: boolean;
  /**
   * Codes this operation itself can answer with, in addition to the codes of every route. By default those of a question to the index:
   * `invalid_parameter` and `upstream_unavailable`.
   */
  readonly fails?: readonly ErrorCode[];
  /** How the answer continues: a `next_before` cursor, a `next_offset`, or (by default) not at all. */
  readonly paging?: 'before' | 'offset' | 'none';
  /** Status of a good answer, 200 unless something is made. */
  readonly status?: 200 | 201 | 202;
  /** What a cache may do. `revalidate`: keep, but ask with the ETag each time; the default of what is read. All else is `no-store`. */
  readonly caching?: 'revalidate' | 'no-store';
  /** Fields of `output` whose value is one immutable object in many answers, such as lists of prices: it is serialized once. */
  readonly sharedFields?: readonly string[];
}

/** What people and models read about an operation. */
interface Words<Output extends TObject> {
  readonly summary: string;
  readonly description: string;
  /**
   * The same for a model that chooses among tools: its purpose, in a few sentences that stand alone and speak of tools, not of routes. The
   * cost is added. By default the first sentence of `description`. Null: no tool, because models have no use for it and all of them would
   * read its definition.
   */
  readonly tool?: string | null;
  /** A true answer, abridged, for the documentation. Tested against `output`. */
  readonly example: Static<Output>;
  /** Answers of other forms, by name. Tested against `output` and `alsoAnswers`. */
  readonly moreExamples?: Readonly<Record<string, NamedExample>>;
  /** Bodies of requests, by name, where `example` of the parameters alone says too little. */
  readonly requestExamples?: Readonly<Record<string, NamedExample>>;
}

/** What a call costs its caller, and the engine. */
interface Money {
  /** The least that a call costs, where `terms` says more. */
  readonly price: Price;
  /** `page` by default. */
  readonly load?: EngineLoad;
  /** Whether an Idempotency-Key makes a call on the credit lane repeatable. */
  readonly repeatable?: boolean;
}

/** Who may call, and what for. */
interface Access {
  /** What it changes for the caller's own organization; absent where it changes nothing but what it charges. */
  readonly changes?: 'adds' | 'replaces' | 'removes';
  /** The operation whose name in the list of a limited key allows this one as well. */
  readonly allowedAs?: string;
  /** True where an unknown key is answered instead of refused. */
  readonly acceptsUnknownKey?: boolean;
}

/** What is known of an operation without calling it. */
interface Declared<P extends Params, Output extends TObject, Other extends TObject> {
  /** camelCase; the MCP tool is its snake_case. */
  readonly id: string;
  readonly wire: Wire<P, Output, Other>;
  readonly words: Words<Output>;
  readonly money: Money;
  readonly access?: Access;
}

export interface NamedExample {
  readonly summary: string;
  readonly value: unknown;
}

/**
 * The steps of a call before its answer, in the order in which they are taken. All may be absent; the value of each is handed to
 * the next ones, and without it that of the step before.
 */
interface Steps<P extends Params, Checked, Found, Reviewed, Deps> {
  /**
   * Refuses with `invalid_parameter` combinations that are invalid although each parameter is valid, and returns what the call is made
   * of: it verifies a cursor, for example, once. Called with the other checks, before anything is charged: no refusal may wait for the
   * answer. `others`: with `takesOthers`, the parameters that are not among `params`.
   */
  check?(input: InputOf<P>, facts: CheckFacts, others: Readonly<Record<string, unknown>>): Checked;
  /**
   * Finds what is stored under the path, where price and validity depend on it and on the caller, who is known and counted. Rejects with
   * the `Failure` of a call that is not valid, which costs nothing. `bought`: the `item` of an earlier call of this very request that was
   * paid for and not answered. The call is made from that alone, whatever is stored by now.
   */
  find?(checked: Checked, deps: Deps, caller: Caller, bought: string | null): Promise<Found>;
  /** What `find` found, as the operation writes it for itself: stored with the claim of a payment, and given back as `bought`. */
  item?(found: Found): string;
  /** What this call costs at most. Absent: `price`, whatever is used. */
  terms?(found: Found): CallTerms;
  /** The effects of a call, where its input has fewer of them than the operation can have (EFFECTS of gate/access.ts). */
  effects?(checked: Checked): readonly Effect[];
  /** The query for the caller's own list of runs; null where nothing is run. */
  asked?(found: Found): AskedQuery | null;
  /**
   * Refuses what only the engine can find invalid. Called once the caller is known and counted and before a lane is chosen: a refusal
   * costs nothing.
   */
  review?(found: Found, deps: Deps, callerName: string): Promise<Reviewed>;
  /**
   * Rejects with the `Failure` that the call is sure to have, and with no other. Called once a fixed payment is verified and before it is
   * settled, because a settlement cannot be undone. Absent: a call that was not reviewed asks whether the engine answers.
   */
  preflight?(reviewed: Reviewed, deps: Deps, callerName: string): Promise<unknown>;
}

/** The last step, in one of two forms. */
type LastStep<Body, Reviewed, Deps> =
  | {
      /**
       * The answer, where it depends on the input alone: calls under way with the same input share one run, and callers one immutable
       * answer.
       */
      read(reviewed: Reviewed, deps: Deps): Promise<Body>;
      readonly run?: never;
    }
  | {
      /**
       * The answer, or an `Outcome` that first says what was used. Rejects with a `Failure`: one that carries `usedQu` is charged for
       * that, any other costs nothing.
       */
      run(reviewed: Reviewed, deps: Deps, context: CallContext): Promise<Body | Outcome>;
      readonly read?: never;
    };

export type Operation<
  P extends Params = Params,
  Output extends TObject = TObject,
  Other extends TObject = TObject,
  Checked = unknown,
  Found = unknown,
  Reviewed = unknown,
  Deps = OperationDeps,
> = Declared<P, Output, Other> &
  Steps<P, Checked, Found, Reviewed, Deps> &
  LastStep<Static<Output> | Static<Other>, Reviewed, Deps>;

/** One of several operations, without the types of its steps. */
export type AnyDeclared<Deps> = Operation<Params, TObject, TObject, unknown, unknown, unknown, Deps>;

/** Declares an operation; infers what each step gets from `params`, from the steps before, and from the type that a step gives its deps. */
export function defineOperation<
  P extends Params,
  Output extends TObject,
  Other extends TObject = never,
  Checked = InputOf<P>,
  Found = Checked,
  Reviewed = Found,
  Deps extends OperationDeps = OperationDeps,
>(
  operation: Operation<P, Output, Other, Checked, Found, Reviewed, Deps>,
): Operation<P, Output, Other, Checked, Found, Reviewed, Deps> {
  return operation;
}

/** The name of an operation as an MCP tool: `listFlows` is `list_flows`. */
export function toolName(operationId: string): string {
  return operationId.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * An operation as the gate, the routes and the documentation read it: its facts side by side, with the defaults filled in, and without the
 * types of its parameters and answer.
 */
export interface AnyOperation<Deps = OperationDeps>
  extends Wire<Params, TObject, TObject>,
    Omit<Words<TObject>, 'tool'>,
    Money,
    Access {
  readonly id: string;
  readonly method: Method;
  readonly fails: readonly ErrorCode[];
  readonly paging: 'before' | 'offset' | 'none';
  readonly caching: 'revalidate' | 'no-store';
  /** Null where it is no tool. */
  readonly tool: string | null;
  /** Whether calls with the same input share one answer. */
  readonly isShared: boolean;
  /** Reads the raw parameters (texts from HTTP, JSON values elsewhere) or throws `invalid_parameter`. */
  prepare(raw: Readonly<Record<string, unknown>>, facts: CheckFacts): PreparedCall<Deps>;
}

/** One call whose input is valid as far as that shows without the engine. Its steps run in this order. */
export interface PreparedCall<Deps = OperationDeps> {
  readonly terms: CallTerms;
  /** What the call does; absent: all that its operation can do. */
  readonly effects?: readonly Effect[];
  /** Of a run of SQL. */
  readonly asked?: AskedQuery | null;
  /** Where only a look-up shows the called entry: the call itself, asked for once the caller is known. Its steps take the place of these. */
  resolve?(deps: Deps, caller: Caller, bought: string | null): Promise<PreparedCall<Deps>>;
  /** The call, as its operation writes it for itself: stored with the claim of a payment, and given back to `resolve`. */
  readonly item?: string;
  /** The last check, by the engine. */
  review?(deps: Deps, callerName: string): Promise<void>;
  /** Called before a fixed payment is claimed: rejects with the failure that the run is sure to have. */
  preflight?(deps: Deps, callerName: string): Promise<void>;
  run(deps: Deps, context: CallContext): Promise<Outcome>;
}
