import { readFileSync } from 'node:fs';
import type { AttackLine, RawOutcome } from '../attacks/attack.ts';
import { planningBombs } from '../attacks/planning-bombs.ts';
import { lengthOf } from './lengths.ts';

/** An attack of `test/attacks` with a name of its own and its places filled in. */
export interface AttackCase {
  /** `family/number`, such as `lexer/12`; numbers follow the order in the file. */
  readonly id: string;
  readonly family: string;
  readonly what: string;
  readonly sql: string;
  readonly params: Readonly<Record<string, string>>;
  /** What the first wall makes of it. */
  readonly outcome: 'refused' | 'harmless' | 'bounded';
  /** Of the refusal. */
  readonly code: string | undefined;
  /** What the second wall makes of it. */
  readonly raw: RawOutcome;
}

const linesOf = (name: string): readonly AttackLine[] =>
  readFileSync(new URL(`../attacks/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as AttackLine); // our own file

/** By what the texts of a family have in common. */
const FAMILIES: Readonly<Record<string, readonly AttackLine[]>> = {
  /** Functions in a table's place: files, networks, other servers, other tables. */
  'table functions': linesOf('table-functions'),
  /** Scalar functions that read, tell, wait, call out or look into the process. */
  'scalar functions': linesOf('scalar-functions'),
  /** Names of functions that are not written as calls: in strings, APPLY, lambdas, aliases, words, and the text of `values`. */
  'hidden names': linesOf('hidden-names'),
  /** Tables of the engine and of other databases, in every place where a table can stand. */
  'system tables': linesOf('system-tables'),
  /** Columns that tables have besides their own; `_database` of a view gives the name of its database away. */
  'virtual columns': linesOf('virtual-columns'),
  /** The right side of IN may be a table, without any FROM. */
  'IN table': linesOf('in-table'),
  /** Names of the query's own that hide the engine's, or seem to. */
  'names of its own': linesOf('cte-shadowing'),
  /** SETTINGS at every depth. The engine checks only the outermost (upstream issue 116028): grants must hold without it. */
  settings: linesOf('settings'),
  /** Clauses that say where the answer goes, or start a second statement. */
  'output clauses': linesOf('output-clauses'),
  /** Texts that look like one thing to a reader and another to the engine's lexer. */
  lexer: linesOf('lexer'),
  /** The tree is judged as printed text: text printed raw could forge a line or an attribute of it. */
  'forged lines': linesOf('forged-lines'),
  /** Placeholders: names through them, values that try to break out, wrong types. */
  parameters: linesOf('parameters'),
  'planning bombs': planningBombs,
  /** Memory and time. A text that passes must end by the guest's limits; one that does not stop when it is killed is refused. */
  'resource bombs': linesOf('resource-bombs'),
  /**
   * Functions that look at no clock while they compute one block, given two large values. Raw, as the guest under a limit of
   * one second, nearly all ran on for 5 s or were still running after 7 s (26.7.2.1, two idle cores).
   */
  'unstoppable kernels': linesOf('unstoppable-kernels'),
  /**
   * Functions whose work is the product of sizes, of the elements of arrays, of the rows of a block or of the repeats of a pattern. Each
   * keeps to the limits of the engine, and looks at no clock for longer than a KILL waits.
   */
  'unstoppable sizes': linesOf('unstoppable-sizes'),
  /**
   * States that are repeated: memory holds one of them and pointers to it, and a block merges it for each. Through the API under a limit of
   * two seconds, those that merge ran on for more than 3 s after their KILL (26.7.2.1).
   */
  'repeated states': linesOf('repeated-states'),
  /** SQL that is built out of texts, and the engine's words about SQL: parsers, plans, generators, states out of bytes. */
  'built SQL': linesOf('built-sql'),
  /** Everything that is no SELECT. */
  statements: linesOf('statements'),
  /** What tables can and views cannot, and clauses that reach below a view. */
  views: linesOf('views'),
  /** What would give away names, paths, versions, settings or users, above all words without parentheses. */
  leaks: linesOf('leaks'),
  /** What callers were seen to try, of every kind. */
  'seen at callers': linesOf('seen-at-callers'),
};

export const FAMILY_NAMES: readonly string[] = Object.keys(FAMILIES);

/** What the placeholders of the texts stand for in a test. */
export interface AttackStage {
  /** A file that holds a secret. */
  readonly secretFile: string;
  /** A file that must never come to be. */
  readonly outFile: string;
  /** The database of the raw tables. */
  readonly database: string;
}

/** Every attack, in the order of the files. */
export function attackCases({ secretFile, outFile, database }: AttackStage): AttackCase[] {
  const fill = (text: string): string =>
    text.replaceAll('%FILE%', secretFile).replaceAll('%OUT%', outFile).replaceAll('%DB%', database);
  return Object.entries(FAMILIES).flatMap(([family, lines]) =>
    lines.map(({ what, sql, params = {}, ...wanted }, at) => ({
      id: `${family}/${at + 1}`,
      family,
      what,
      sql: fill(sql),
      params: Object.fromEntries(Object.entries(params).map(([name, value]) => [name, fill(value)])),
      ...outcomesOf(wanted),
    })),
  );
}

function outcomesOf({ refused, bounded, raw }: Pick<AttackLine, 'refused' | 'bounded' | 'raw'>) {
  if (refused !== undefined) return { outcome: 'refused', code: refused, raw: raw ?? 'denied' } as const;
  const outcome = bounded === true ? 'bounded' : 'harmless';
  return { outcome, code: undefined, raw: raw ?? outcome } as const;
}

/**
 * One attack of each family and outcome, in the nightly run all: for what stands behind the first wall, which
 * `test/sandbox/judge/sandbox-attacks` shows every one of them.
 */
export function fewAttacks(stage: AttackStage): AttackCase[] {
  const taken = new Map<string, number>();
  return attackCases(stage).filter(({ family, outcome, raw }) => {
    const kind = `${family}, ${outcome}, ${raw}`;
    const before = taken.get(kind) ?? 0;
    taken.set(kind, before + 1);
    return before < lengthOf('attacksOfEachKind');
  });
}

/** Bombs that end by the time and by the memory that a query may use, and one that is answered. */
export const BOMB_IDS: readonly string[] = [
  'resource bombs/10',
  'resource bombs/16',
  'resource bombs/37',
  'planning bombs/52',
];
