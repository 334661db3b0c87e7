import { EngineError, type Guard, type Statement, type Writer } from './engine.ts';
import { type Sql, sql, text, uint64 } from './sql.ts';

/**
 * Fencing of writes by the engine itself. A process that leads something claims a token in table `fences`; every write of its
 * carries that token, and the engine throws when a higher one stands there for the scope.
 *
 * The engine reads the fence when it begins with a statement, after the statement is in `system.processes`. (Over HTTP it begins
 * once the body has ended or 256 KiB of it are there: what is paused before that is refused like anything that comes later.) So of any write under an older token one of two things is true once a new token is acknowledged: it is
 * refused, or `system.processes` shows it. The process that takes over waits for the latter (ingest/write/running-inserts.ts), and nothing of
 * a predecessor lands afterwards, however long that one was paused and whatever its clock says.
 */

/** Somebody else has taken over what this write was guarded by. Nothing of it was written. */
export class Overtaken extends Error {
  readonly scope: string;

  constructor(scope: string) {
    super(`a newer token stands for ${scope}: another process writes there now`);
    this.name = 'Overtaken';
    this.scope = scope;
  }
}

/** FUNCTION_THROW_IF_VALUE_IS_NON_ZERO: no statement of ours throws by itself. */
const THROWN_BY_GUARD = 395;
const LOOK_MAX_SECONDS = 30;
/** `INSERT INTO table` and its columns, if they are named. */
const INSERT_HEAD = /^\s*INSERT INTO\s+[a-z_][a-z0-9_]*\s*(\([^()]*\))?\s*/;

/** The condition that throws when a guard is overtaken. Thrown for the first row: a statement without rows writes nothing anyway. */
function standing(guards: readonly Guard[]): Sql {
  return guards
    .map(
      ({ scope, token }) =>
        sql`NOT throwIf((SELECT max(token) FROM fences WHERE scope = ${text(scope)}) > ${uint64(token)})`,
    )
    .reduce((all, next) => sql`${all} AND ${next}`);
}

/** An `INSERT INTO … SELECT …` that the engine refuses when one of the guards is overtaken. Other statements are left alone. */
export function guardedStatement(statement: Sql, guards: readonly Guard[]): Sql {
  const [first = '', ...rest] = joined(statement.parts);
  if (guards.length === 0 || typeof first !== 'string') return statement;
  const [head] = INSERT_HEAD.exec(first) ?? [];
  if (head === undefined) return statement;
  const parts = [`${head} SELECT * FROM (${first.slice(head.length)}`, ...rest];
  const wrapped = { ...statement, parts };
  return sql`${wrapped}) WHERE ${standing(guards)}`;
}

/** Text that an interpolated name has cut in two is one text again. */
function joined(parts: Sql['parts']): Sql['parts'] {
  const whole: Sql['parts'][number][] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    if (typeof part === 'string' && typeof last === 'string') whole[whole.length - 1] = last + part;
    else whole.push(part);
  }
  return whole;
}

/** An insert of a body in RowBinary with the guards in it. The engine takes the types from the table. */
export function guardedInsert(table: Sql, columns: Sql, guards: readonly Guard[]): Sql {
  return sql`INSERT INTO ${table} (${columns}) SELECT * FROM input() WHERE ${standing(guards)} FORMAT RowBinary`;
}

/** How a guarded statement is named in the engine: whoever takes over finds what runs under a scope by it. */
export function guardedName(name: string, guards: readonly Guard[]): string {
  return [name, ...guards.map(({ scope }) => `@${scope}`)].join(' ');
}

/**
 * The same writer, whose every write stands under these guards as well. Throws `Overtaken` for what was refused. An insert is refused by
 * the engine itself; a partition that is dropped and a body in a foreign format have no place for the condition, so the fence is
 * read right before: what an overtaken process begins is refused, and only a statement that had begun already can still land.
 */
export function guardedWriter(writer: Writer, guards: readonly Guard[]): Writer {
  const told = async (under: readonly Guard[], work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof EngineError) || error.engineCode !== THROWN_BY_GUARD) throw error;
      throw new Overtaken((await overtakenOf(writer, under)) ?? error.statement);
    }
  };
  const beforehand = async (): Promise<void> => {
    const scope = await overtakenOf(writer, guards);
    if (scope !== undefined) throw new Overtaken(scope);
  };
  return {
    ...writer,
    async load(statement, body) {
      await beforehand();
      await writer.load({ ...statement, name: guardedName(statement.name, guards) }, body);
    },
    async dropPartition(statement) {
      await beforehand();
      await writer.dropPartition({ ...statement, name: guardedName(statement.name, guards) });
    },
    run(statement) {
      const all = [...(statement.guards ?? []), ...guards];
      return told(all, () => writer.run({ ...statement, guards: all }));
    },
    insert(name, table, columns, rowBinary, more = []) {
      const all = [...more, ...guards];
      return told(all, () => writer.insert(name, table, columns, rowBinary, all));
    },
  };
}

/** The first guard that a higher token stands for. */
async function overtakenOf(writer: Writer, guards: readonly Guard[]): Promise<string | undefined> {
  for (const { scope, token } of guards) if ((await highestToken(writer, scope)) > token) return scope;
  return undefined;
}

/** 0 for a scope that nobody has claimed. */
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
