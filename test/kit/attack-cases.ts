import type { Attack } from '../attacks/attack.ts';
import { builtSql } from '../attacks/built-sql.ts';
import { cteShadowing } from '../attacks/cte-shadowing.ts';

import { forgedLines } from '../attacks/forged-lines.ts';
import { hiddenNames } from '../attacks/hidden-names.ts';
import { inTable } from '../attacks/in-table.ts';
import { leaks } from '../attacks/leaks.ts';
import { lexer } from '../attacks/lexer.ts';
import { outputClauses } from '../attacks/output-clauses.ts';
import { parameters } from '../attacks/parameters.ts';
import { planningBombs } from '../attacks/planning-bombs.ts';
import { repeatedStates } from '../attacks/repeated-states.ts';
import { resourceBombs } from '../attacks/resource-bombs.ts';
import { scalarFunctions } from '../attacks/scalar-functions.ts';
import { nestedSettings } from '../attacks/settings.ts';
import { statements } from '../attacks/statements.ts';
import { systemTables } from '../attacks/system-tables.ts';
import { tableFunctions } from '../attacks/table-functions.ts';
import { unstoppableKernels } from '../attacks/unstoppable-kernels.ts';
import { unstoppableSizes } from '../attacks/unstoppable-sizes.ts';
import { views } from '../attacks/views.ts';
import { virtualColumns } from '../attacks/virtual-columns.ts';

/** An attack with a name of its own and its places filled in. */
export interface AttackCase extends Attack {
  /** `family/number`, such as `lexer/12`; numbers follow the order in the file. */
  readonly id: string;
  readonly family: keyof typeof FAMILIES;
  readonly params: Readonly<Record<string, string>>;
}

const FAMILIES = {
  'table functions': tableFunctions,
  'scalar functions': scalarFunctions,
  'hidden names': hiddenNames,
  'system tables': systemTables,
  'virtual columns': virtualColumns,
  'IN table': inTable,
  'names of its own': cteShadowing,
  settings: nestedSettings,
  'output clauses': outputClauses,
  lexer,
  'forged lines': forgedLines,
  parameters,
  'planning bombs': planningBombs,
  'resource bombs': resourceBombs,
  'unstoppable kernels': unstoppableKernels,
  'unstoppable sizes': unstoppableSizes,
  'repeated states': repeatedStates,
  'built SQL': builtSql,
  statements,
  views,
  leaks,
} as const satisfies Record<string, readonly Attack[]>;

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
  return Object.entries(FAMILIES).flatMap(([family, attacks]) =>
    attacks.map((attack, at) => ({
      ...attack,
      id: `${family}/${at + 1}`,
      family: family as keyof typeof FAMILIES, // a key of the object itself
      sql: fill(attack.sql),
      params: Object.fromEntries(
        Object.entries(attack.params ?? {}).map(([name, value]) => [name, fill(value)]),
      ),
    })),
  );
}
