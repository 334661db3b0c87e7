import { nearest } from '../../core/command-text.ts';
import { fail } from '../../core/errors.ts';
import { type InputOf, type ParamFacts, type Params, quoted } from './params.ts';

/**
 * Reads all parameters of an operation. A parameter that the operation does not have is refused instead of ignored: an ignored filter would
 * answer another question than the one asked. With `takesOthers` such parameters are given as they were sent.
 */
export function readInput<P extends Params>(
  { params, takesOthers = false }: { readonly params: P; readonly takesOthers?: boolean },
  raw: Readonly<Record<string, unknown>>,
  facts: ParamFacts,
): { readonly input: InputOf<P>; readonly others: Readonly<Record<string, unknown>> } {
  const others = Object.entries(raw).filter(([name]) => !Object.hasOwn(params, name));
  const [unknown] = others;
  if (unknown !== undefined && !takesOthers) throw unknownParameter(unknown[0], Object.keys(params));
  const input = Object.entries(params).map(([name, param]) => [
    name,
    param.read(param.in === 'body' ? sentValue(raw, name) : single(raw, name), name, facts),
  ]);
  // Each value was read by the parameter of that name.
  return { input: Object.fromEntries(input) as InputOf<P>, others: Object.fromEntries(others) };
}

function sentValue(raw: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(raw, name) ? raw[name] : undefined;
}

/** The texts of a URL stand alone; a list is what becomes of a name that is repeated. */
function single(raw: Readonly<Record<string, unknown>>, name: string): unknown {
  const value = sentValue(raw, name);
  if (!Array.isArray(value)) return value;
  throw fail('invalid_parameter', { parameter: name, detail: `${name} is given more than once.` });
}

export function unknownParameter(name: string, known: readonly string[]): Error {
  const shown = name.slice(0, 100);
  const near = nearest(shown, known);
  const advice = near
    ? `Did you mean ${near}?`
    : `This operation takes ${known.length === 0 ? 'no parameters' : known.join(', ')}.`;
  return fail('invalid_parameter', {
    parameter: shown,
    detail: `There is no parameter ${quoted(shown)}. ${advice}`,
  });
}
