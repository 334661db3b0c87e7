import type { AnyOperation } from '../operations/define.ts';
import type { Param } from '../operations/params.ts';

/** The arguments of a tool call by the names that the operation has, and what stands for arguments that the caller left out. */

export type Arguments = Readonly<Record<string, unknown>>;

/**
 * The arguments as they are meant. Models fill in every argument, with null for those that they do not need; they write names in camel
 * case and by the name of another tool (`address` for `wallet`), and chains by their names. A name that two arguments claim, or that the
 * operation does not know, stays as it is and is refused.
 */
export function meantArguments({ params, takesOthers }: AnyOperation, sent: Arguments): Arguments {
  const given = Object.entries(sent).filter(([, value]) => value !== null);
  if (takesOthers === true) return Object.fromEntries(given);
  const read = new Map<string, unknown>(given.filter(([name]) => Object.hasOwn(params, name)));
  const implied = new Map<string, string>();
  for (const [name, value] of given) {
    if (Object.hasOwn(params, name)) continue;
    const meant = namedIn(params, snakeCase(name));
    if (meant === null || read.has(meant.name)) {
      read.set(name, value);
      continue;
    }
    read.set(meant.name, value);
    for (const [other, word] of Object.entries(meant.implies))
      if (Object.hasOwn(params, other)) implied.set(other, word);
  }
  const values = [...read].map(([name, value]) => [name, meantValue(params[name], value)] as const);
  return { ...Object.fromEntries(implied), ...Object.fromEntries(values) };
}

interface MeantName {
  readonly name: string;
  readonly implies: Readonly<Record<string, string>>;
}

/** The parameter that this name means; null for none, and where several have the name. */
function namedIn(params: AnyOperation['params'], name: string): MeantName | null {
  if (Object.hasOwn(params, name)) return { name, implies: {} };
  const meant = Object.entries(params).flatMap(([own, { otherNames = {} }]) =>
    Object.hasOwn(otherNames, name) ? [{ name: own, implies: otherNames[name] ?? {} }] : [],
  );
  return meant.length === 1 ? (meant[0] ?? null) : null;
}

function meantValue(param: Param | undefined, value: unknown): unknown {
  const isWord = typeof value === 'string' || typeof value === 'number';
  return param?.meant !== undefined && isWord ? param.meant(String(value)) : value;
}

/** Longer than any name of ours in either spelling. */
const NAME_MAX_CHARS = 64;

function snakeCase(name: string): string {
  return name.length > NAME_MAX_CHARS ? name : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** With what a tool is called with where its caller says nothing. */
export function withDefaults({ params }: AnyOperation, given: Arguments): Arguments {
  const standard = Object.entries(params).flatMap(([name, { toolDefault }]) =>
    toolDefault === undefined ? [] : [[name, toolDefault] as const],
  );
  return { ...Object.fromEntries(standard), ...given };
}

/** Whether this is the name of an argument of any of these operations, so that it is no typing error of another name. */
export function isKnownName(operations: readonly AnyOperation[], name: string): boolean {
  return operations.some(({ params }) => namedIn(params, snakeCase(name)) !== null);
}
