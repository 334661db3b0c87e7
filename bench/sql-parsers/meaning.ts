import { isProblem, type QueryParameters, type SqlParser } from '../../sandbox/judge/parser.ts';
import { loadFunctionCatalogue } from '../../sandbox/policy/policy.ts';

/**
 * Whether two texts mean the same, decided by the engine: their unresolved query trees are equal. The tree shows tables, join
 * kinds, functions, constants, aliases, CTEs, windows and their frames; it shows neither FORMAT nor comments nor brackets, which
 * change nothing. Two spellings that only look different are taken as one: functions whose names the engine takes in any case,
 * and `count(*)` for `count()`.
 */
export type Fingerprint = (text: string, parameters: QueryParameters) => Promise<string | null>;

/** `count(DISTINCT x)` is shown as the name as it was written with a combinator behind it. */
const FUNCTION_NAME = /(function_name: )(\w+?)(Distinct)?(?=,)/;
const COUNT_ROWS = /\bcount\(\*\)/gi;

/** The fingerprint is null where the engine does not read the text. */
export function createFingerprint(parser: SqlParser): Fingerprint {
  const functions = loadFunctionCatalogue();
  const isAnyCase = (name: string): boolean =>
    [name, name.toLowerCase(), name.toUpperCase()].every((spelling) => functions.allows(spelling));
  const inOneCase = (name: string): string => (isAnyCase(name) ? name.toLowerCase() : name);
  return async (text, parameters) => {
    const lines = await parser.tree(text.replace(COUNT_ROWS, 'count()'), parameters);
    if (isProblem(lines)) return null;
    return lines
      .map((line) =>
        line.replace(
          FUNCTION_NAME,
          (_all, label: string, name: string, distinct = '') => label + inOneCase(name) + distinct,
        ),
      )
      .join('\n');
  };
}
