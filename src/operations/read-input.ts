import { nearest } from '../../core/command-text.ts';
import { fail } from '../../core/errors.ts';
import { type InputOf, type ParamFacts, type Params, quoted } from './params.ts';

/**
 * Reads all parameters of an operation. A parameter that the operation does not have is refused instead of ignored: an
 * ignored filter would answer another question than the one asked.
 */
export function readInput<P extends Params>(
  params: P,
  raw: Readonly<Record<string, unknown>>,
  facts: ParamFacts,
): InputOf<P> {
  const known = Object.keys(params);
  for (const name of Object.keys(raw)) {
    if (!Object.hasOwn(params, name)) throw unknownParameter(name, known);
  }
  const input = Object.entries(params).map(([name, param]) => [
    name,
    param.read(param.in === 'body' ? sentValue(raw, name) : single(raw, name), name, facts),
  ]);
  return Object.fromEntries(input) as InputOf<P>; // each value was read by the parameter of that name
}

/** The same for an operation whose further parameters are not known yet: they are given as they were sent. */
export function readOpenInput<P extends Params>(
  params: P,
  raw: Readonly<Record<string, unknown>>,
  facts: ParamFacts,
): { readonly input: InputOf<P>; readonly others: Readonly<Record<string, unknown>> } {
  const sent = Object.entries(raw);
  const known = Object.fromEntries(sent.filter(([name]) => Object.hasOwn(params, name)));
  const others = Object.fromEntries(sent.filter(([name]) => !Object.hasOwn(params, name)));
  return { input: readInput(params, known, facts), others };
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
