import { fixedOutcome, type Outcome } from './answer.ts';
import type { AnyDeclared, AnyOperation, CallTerms, PreparedCall } from './define.ts';
import type { CallContext, OperationDeps } from './deps.ts';
import { readInput } from './read-input.ts';

/** A declared operation in the one form that the gate calls. */
export function register<Deps extends OperationDeps>(operation: AnyDeclared<Deps>): AnyOperation<Deps> {
  const { id, wire, words, money, access, read, check, find } = operation;
  return {
    id,
    method: 'GET',
    fails: ['invalid_parameter', 'upstream_unavailable'],
    paging: 'none',
    caching: read === undefined ? 'no-store' : 'revalidate',
    tool: firstSentence(words.description),
    ...wire,
    ...words,
    ...money,
    ...access,
    isShared: read !== undefined,
    prepare(raw, facts) {
      const { input, others } = readInput(wire, raw, facts);
      const checked = check === undefined ? input : check(input, facts, others);
      const effects = operation.effects === undefined ? {} : { effects: operation.effects(checked) };
      if (find === undefined) return { ...callOf(operation, checked), ...effects };
      return {
        ...effects,
        terms: { price: money.price, byUse: true, tier: null },
        resolve: async (deps, caller, bought) => callOf(operation, await find(checked, deps, caller, bought)),
        run: () => Promise.reject(new Error(`${id} runs before it is resolved`)),
      };
    },
  };
}

/** The call of what was found, or where nothing is looked up, of what was checked. */
function callOf<Deps extends OperationDeps>(
  operation: AnyDeclared<Deps>,
  found: unknown,
): PreparedCall<Deps> {
  const { money, item, terms, asked, review, preflight } = operation;
  const fixed: CallTerms = { price: money.price, byUse: false, tier: null };
  let verdict: Promise<unknown> | undefined;
  const reviewed = async (deps: Deps, callerName: string): Promise<unknown> => {
    if (review === undefined) return found;
    verdict ??= review(found, deps, callerName);
    return verdict;
  };
  return {
    terms: terms?.(found) ?? fixed,
    ...(item === undefined ? {} : { item: item(found) }),
    ...(asked === undefined ? {} : { asked: asked(found) }),
    review: async (deps, callerName) => void (await reviewed(deps, callerName)),
    preflight: async (deps, callerName) => {
      if (preflight !== undefined) await preflight(await reviewed(deps, callerName), deps, callerName);
      // A payment for a call that the engine cannot answer is refused before it settles.
      else if (review === undefined && money.load !== 'none') await deps.index.ready();
    },
    run: async (deps, context) =>
      outcomeOf(await answerOf(operation, await reviewed(deps, context.callerName), deps, context)),
  };
}

function answerOf<Deps extends OperationDeps>(
  { id, read, run }: AnyDeclared<Deps>,
  reviewed: unknown,
  deps: Deps,
  context: CallContext,
): Promise<object> {
  if (read === undefined) return run(reviewed, deps, context);
  return deps.share(`${id} ${nameOf(reviewed)}`, (reader) => read(reviewed, { ...deps, reader }));
}

function firstSentence(text: string): string {
  const end = text.indexOf('. ');
  return end === -1 ? text : text.slice(0, end + 1);
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
