import { EngineError, type Guard, type Statement, type WriteMarks, type Writer } from './engine.ts';
import { type Sql, sql, text, uint64 } from './sql.ts';

/**
 * Write fencing, enforced by the engine. A leading process claims a token in table `fences`; each of its writes carries the token,
 * and the engine throws if the table holds a higher one for the scope.
 *
 * The engine reads the fence when it starts a statement, after listing it in `system.processes`. (Over HTTP it starts once the body
 * has ended or 256 KiB have arrived: a write that is paused before that is refused like any later one.) So once a new token is
 * acknowledged, any write under an older token is either refused or visible in `system.processes`. The new leader waits for the
 * visible ones (ingest/write/retract.ts), which it finds by their scopes; after that no write of its predecessor lands, however long that process was paused
 * and whatever its clock says.
 */

/** Another process has taken over the scope of this write. Nothing was written. */
export class Overtaken extends Error {
  readonly scope: string;

  constructor(scope: string) {
    super(`a newer token stands for ${scope}: another process writes there now`);
    this.name = 'Overtaken';
    this.scope = scope;
  }
}

/** FUNCTION_THROW_IF_VALUE_IS_NON_ZERO: none of our statements throws it otherwise. */
const THROWN_BY_GUARD = 395;
const LOOK_MAX_SECONDS = 30;
/** One word of a `log_comment`. */
const SCOPE = /^\S+$/;
/** `INSERT INTO table` and its column list, if any. */
const INSERT_HEAD = /^\s*INSERT INTO\s+([a-z_][a-z0-9_]*)\s*(?:\([^()]*\))?\s*/;

/** The condition that throws when a guard is overtaken. It needs a row to throw; a statement without rows writes nothing anyway. */
function standing(guards: readonly Guard[]): Sql {
  return guards
    .map(
      ({ scope, token }) =>
        sql`NOT throwIf((SELECT max(token) FROM fences WHERE scope = ${text(scope)}) > ${uint64(token)})`,
    )
    .reduce((all, next) => sql`${all} AND ${next}`);
}

/** The table that a statement inserts into; undefined for other statements. */
export function insertedTable({ parts }: Sql): string | undefined {
  const [first] = joined(parts);
  return typeof first === 'string' ? INSERT_HEAD.exec(first)?.[1] : undefined;
}

/** Adds the guards to an `INSERT INTO … SELECT …`. Throws TypeError for other statements: they must not run without their guards. */
export function guardedStatement(statement: Sql, guards: readonly Guard[]): Sql {
  if (guards.length === 0) return statement;
  const [first = '', ...rest] = joined(statement.parts);
  const [head] = (typeof first === 'string' ? INSERT_HEAD.exec(first) : null) ?? [];
  // A statement that the guards cannot be put into must not run without them.
  if (head === undefined || typeof first !== 'string')
    throw new TypeError('a guarded statement that is no INSERT INTO … SELECT …');
  const parts = [`${head} SELECT * FROM (${first.slice(head.length)}`, ...rest];
  const wrapped = { ...statement, parts };
  return sql`${wrapped}) WHERE ${standing(guards)}`;
}

/** Joins texts that an interpolated name has split. */
function joined(parts: Sql['parts']): Sql['parts'] {
  const whole: Sql['parts'][number][] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    if (typeof part === 'string' && typeof last === 'string') whole[whole.length - 1] = last + part;
    else whole.push(part);
  }
  return whole;
}

/** An insert of a RowBinary body with the guards. The engine takes the types from the table. */
export function guardedInsert(table: Sql, columns: Sql, guards: readonly Guard[]): Sql {
  return sql`INSERT INTO ${table} (${columns}) SELECT * FROM input() WHERE ${standing(guards)} FORMAT RowBinary`;
}

/** The `log_comment` of a statement: its name, then the scopes of its guards and its own scopes. */
export function commentOf(name: string, { guards = [], scopes = [] }: WriteMarks): string {
  const marked = new Set([...guards.map(({ scope }) => scope), ...scopes]);
  const unfit = [...marked].find((scope) => !SCOPE.test(scope));
  if (unfit !== undefined) throw new TypeError(`${name}: ${JSON.stringify(unfit)} is not a scope`);
  return [name, ...[...marked].map((scope) => `@${scope}`)].join(' ');
}

/** The condition that selects the statements of a scope in `system.processes`. */
export function isOfScope(scope: string): Sql {
  return sql`has(splitByChar(' ', Settings['log_comment']), ${text(`@${scope}`)})`;
}

/**
 * Adds these guards to every write of a writer. A refused write throws `Overtaken`. The engine itself checks inserts. Dropping a
 * partition, inserting a foreign format and DDL have no place for the condition, so the fence is read right before them: an overtaken
 * process cannot begin a statement under the fence, and only one that had already begun can still land.
 */
export function guardedWriter(writer: Writer, guards: readonly Guard[]): Writer {
  const refused = async (under: readonly Guard[], work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof EngineError) || error.engineCode !== THROWN_BY_GUARD) throw error;
      throw new Overtaken((await overtakenOf(writer, under)) ?? error.statement);
    }
  };
  const scopes = guards.map(({ scope }) => scope);
  const beforehand = async (): Promise<void> => {
    const scope = await overtakenOf(writer, guards);
    if (scope !== undefined) throw new Overtaken(scope);
  };
  return {
    ...writer,
    async load(statement, body) {
      await beforehand();
      await writer.load({ ...statement, scopes: [...(statement.scopes ?? []), ...scopes] }, body);
    },
    async dropPartition(statement) {
      await beforehand();
      await writer.dropPartition({ ...statement, scopes });
    },
    async run(statement) {
      if (statement.kind === 'other') {
        await beforehand();
        return writer.run({ ...statement, scopes: [...(statement.scopes ?? []), ...scopes] });
      }
      const all = [...(statement.guards ?? []), ...guards];
      return refused(all, () => writer.run({ ...statement, guards: all }));
    },
    insert(name, table, columns, rowBinary, marks = {}) {
      const all = [...(marks.guards ?? []), ...guards];
      return refused(all, () => writer.insert(name, table, columns, rowBinary, { ...marks, guards: all }));
    },
  };
}

/** The first guard that has been overtaken by a higher token. */
async function overtakenOf(writer: Writer, guards: readonly Guard[]): Promise<string | undefined> {
  for (const { scope, token } of guards) if ((await highestToken(writer, scope)) > token) return scope;
  return undefined;
}

/** The highest token of a scope; 0 if it was never claimed. */
export async function highestToken(writer: Pick<Writer, 'rows'>, scope: string): Promise<bigint> {
  const statement: Statement = {
    name: 'fence-highest',
    sql: sql`SELECT max(token) FROM fences WHERE scope = ${text(scope)}`,
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: 1,
  };
  const { rows } = await writer.rows(statement);
  return BigInt(String(rows[0]?.[0] ?? 0));
}
