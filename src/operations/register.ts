import type { TObject } from '@sinclair/typebox';
import { fixedOutcome, type Outcome } from './answer.ts';
import type { AnyOperation, CallTerms, CheckFacts, Operation, PreparedCall } from './define.ts';
import type { CallContext, OperationDeps } from './deps.ts';
import { readEngineUptime } from './index-state/index-state.ts';
import type { Params } from './params.ts';
import { readInput, readOpenInput } from './read-input.ts';

/** A declared operation in the one form that the gate calls. */
export function register<
  P extends Params,
  Output extends TObject,
  Other extends TObject,
  Checked,
  Found,
  Reviewed,
  Deps extends OperationDeps,
>(operation: Operation<P, Output, Other, Checked, Found, Reviewed, Deps>): AnyOperation<Deps> {
  const { check, find, item, terms, effects, asked, review, preflight, read, run, ...declared } = operation;
  const { id, price, params } = declared;
  const fixed: CallTerms = { price, byUse: false, tier: null };

  const checkedOf = (raw: Readonly<Record<string, unknown>>, facts: CheckFacts): Checked => {
    const { input, others } =
      declared.takesOthers === true
        ? readOpenInput(params, raw, facts)
        : { input: readInput(params, raw, facts), others: {} };
    return check === undefined ? (input as Checked) : check(input, facts, others); // without a check, Checked is InputOf<P>
  };

  const answerOf = async (reviewed: Reviewed, deps: Deps, context: CallContext) =>
    read === undefined
      ? run(reviewed, deps, context)
      : deps.share(`${id} ${nameOf(reviewed)}`, (reader) => read(reviewed, { ...deps, reader }));

  const callOf = (found: Found): PreparedCall<Deps> => {
    let verdict: Promise<Reviewed> | undefined;
    const reviewedBy = async (deps: Deps, callerName: string): Promise<Reviewed> => {
      if (review === undefined) return found as unknown as Reviewed; // without a review, Reviewed is Found
      verdict ??= review(found, deps, callerName);
      return verdict;
    };
    return {
      terms: terms?.(found) ?? fixed,
      ...(item === undefined ? {} : { item: item(found) }),
      ...(effects === undefined ? {} : { effects: effects(found) }),
      ...(asked === undefined ? {} : { asked: asked(found) }),
      ...(review === undefined
        ? {}
        : { review: async (deps, callerName) => void (await reviewedBy(deps, callerName)) }),
      preflight: async (deps, callerName) => {
        if (preflight !== undefined) await preflight(await reviewedBy(deps, callerName), deps, callerName);
        // A payment for a call that the engine cannot answer is refused before it settles.
        else if (review === undefined && declared.load !== 'none') await readEngineUptime(deps.reader);
      },
      run: async (deps, context) =>
        outcomeOf(await answerOf(await reviewedBy(deps, context.callerName), deps, context)),
    };
  };

  return {
    ...declared,
    isShared: read !== undefined,
    prepare(raw, facts) {
      const checked = checkedOf(raw, facts);
      if (find === undefined) return callOf(checked as unknown as Found); // without a look-up, Found is Checked
      return {
        terms: { ...fixed, byUse: true },
        resolve: async (deps, caller, bought) => callOf(await find(checked, deps, caller, bought)),
        run: () => Promise.reject(new Error(`${id} runs before it is resolved`)),
      };
    },
  };
}

/** Two inputs of one operation have one name if they are equal: parameters are always read in the same order. */
function nameOf(input: unknown): string {
  return JSON.stringify(input, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
}

/** An answer is plain data; only an outcome has functions. */
function outcomeOf(answer: object): Outcome {
  if ('discard' in answer && typeof answer.discard === 'function') return answer as Outcome;
  return fixedOutcome(answer as Record<string, unknown>); // of a TObject
}
