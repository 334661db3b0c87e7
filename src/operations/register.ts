import type { TObject } from '@sinclair/typebox';
import type { Reader } from '../../clickhouse/engine/engine.ts';
import { fixedOutcome, type Outcome } from './answer.ts';
import type {
  AnyOperation,
  CallTerms,
  CheckFacts,
  Operation,
  StoredOperation,
  UsageOperation,
} from './define.ts';
import type { OperationDeps } from './deps.ts';
import { readEngineUptime } from './index-state/index-state.ts';
import type { InputOf, Params } from './params.ts';
import { readInput, readOpenInput } from './read-input.ts';

/** Declared operations in the one form that the gate calls. */

export function register<P extends Params, Output extends TObject, Checked, Other extends TObject>(
  operation: Operation<P, Output, Checked, Other>,
): AnyOperation {
  const {
    run,
    check,
    effects,
    preflight = (_input, { reader }) => engineAnswers(reader),
    ...declared
  } = operation;
  const isShared = operation.shared === 'all';
  if (isShared && run.length > 2)
    throw new Error(`${operation.id}: a shared answer cannot depend on its caller`);
  const terms: CallTerms = { price: operation.price, byUse: false, tier: null };
  return {
    ...declared,
    prepare(raw, facts) {
      const input = checked(operation.params, check, raw, facts);
      return {
        terms,
        ...(effects === undefined ? {} : { effects: effects(input) }),
        // A payment for a call that the engine cannot answer is refused before it settles.
        ...(operation.load === 'none'
          ? {}
          : { preflight: async (deps) => void (await preflight(input, deps)) }),
        run: async (deps, context) =>
          outcomeOf(
            isShared
              ? await deps.share(`${operation.id} ${nameOf(input)}`, (reader) =>
                  run(input, { ...deps, reader }, context),
                )
              : await run(input, deps, context),
          ),
      };
    },
  };
}

/** Two inputs of one operation have one name if they are equal: parameters are always read in the same order. */
function nameOf(input: unknown): string {
  return JSON.stringify(input, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
}

export function registerMetered<P extends Params, Output extends TObject, Checked, Reviewed>(
  operation: UsageOperation<P, Output, Checked, Reviewed>,
): AnyOperation {
  const { run, check, terms, effects, review, preflight, asked, ...declared } = operation;
  return {
    ...declared,
    prepare(raw, facts) {
      const input = checked(operation.params, check, raw, facts);
      let verdict: Promise<Reviewed> | undefined;
      const reviewed = (deps: OperationDeps, callerName: string): Promise<Reviewed> => {
        verdict ??= review(input, deps, callerName);
        return verdict;
      };
      return {
        terms: terms(input),
        ...(effects === undefined ? {} : { effects: effects(input) }),
        asked: asked?.(input) ?? null,
        review: async (deps, callerName) => void (await reviewed(deps, callerName)),
        preflight: async (deps, callerName) =>
          preflight?.(await reviewed(deps, callerName), deps, callerName),
        run: async (deps, context) => run(await reviewed(deps, context.callerName), deps, context),
      };
    },
  };
}

export function registerStored<P extends Params, Output extends TObject>(
  operation: StoredOperation<P, Output>,
): AnyOperation {
  const { resolve, ...declared } = operation;
  return {
    ...declared,
    prepare(raw, facts) {
      const sent = readOpenInput(operation.params, raw, facts);
      return {
        terms: { price: operation.price, byUse: true, tier: null },
        resolve: (deps, caller, bought) => resolve(sent, deps, caller, bought),
        run: () => Promise.reject(new Error(`${operation.id} runs before it is resolved`)),
      };
    },
  };
}

/** What the run gets: the parameters as they were read, or what `check` made of them. */
function checked<P extends Params, Checked>(
  params: P,
  check: ((input: InputOf<P>, facts: CheckFacts) => Checked) | undefined,
  raw: Readonly<Record<string, unknown>>,
  facts: CheckFacts,
): Checked {
  const input = readInput(params, raw, facts);
  return check === undefined ? (input as Checked) : check(input, facts); // without a check, Checked is InputOf<P>
}

async function engineAnswers(reader: Reader): Promise<void> {
  await readEngineUptime(reader);
}

function outcomeOf(answer: unknown): Outcome {
  // A TObject's answer is an object; TypeScript cannot see that through Static of a type parameter.
  return fixedOutcome(answer as Record<string, unknown>);
}
