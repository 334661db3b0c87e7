import { EngineError, type Guard, type Statement, type WriteMarks, type Writer } from './engine.ts';
import { type Sql, sql, text, uint64 } from './sql.ts';

/**
 * Fencing of writes by the engine itself. A process that leads something claims a token in table `fences`; every write of its
 * carries that token, and the engine throws when a higher one stands there for the scope.
 *
 * The engine reads the fence when it begins with a statement, after the statement is in `system.processes`. (Over HTTP it begins
 * once the body has ended or 256 KiB of it are there: what is paused before that is refused like anything that comes later.) So of
 * any write under an older token one of two things is true once a new token is acknowledged: it is refused, or `system.processes`
 * shows it. The process that takes over waits for the latter (ingest/write/retract.ts), and nothing of a predecessor lands
 * afterwards, however long that one was paused and whatever its clock says. The scopes of a statement travel with it for that: they
 * are fields, and no part of its name.
 */

/** Another process has taken over what this write was guarded by. Nothing of it was written. */
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
/** One word of a `log_comment`. */
const SCOPE = /^\S+$/;
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

/** An `INSERT INTO … SELECT …` that the engine refuses when one of the guards is overtaken. */
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

/** What travels with a statement as its `log_comment`: its name for people, and behind it what it stands under and belongs to. */
export function commentOf(name: string, { guards = [], scopes = [] }: WriteMarks): string {
  const marked = new Set([...guards.map(({ scope }) => scope), ...scopes]);
  const unfit = [...marked].find((scope) => !SCOPE.test(scope));
  if (unfit !== undefined) throw new TypeError(`${name}: ${JSON.stringify(unfit)} is not a scope`);
  return [name, ...[...marked].map((scope) => `@${scope}`)].join(' ');
}

/** The condition on running statements, by the column names of `system.processes`: those of a scope. */
export function isOfScope(scope: string): Sql {
  return sql`has(splitByChar(' ', Settings['log_comment']), ${text(`@${scope}`)})`;
}

/**
 * The same writer, whose every write stands under these guards as well. Throws `Overtaken` for what was refused. An insert is refused by
 * the engine itself; a partition that is dropped, a body in a foreign format and DDL have no place for the condition, so the fence is
 * read right before: what an overtaken process begins is refused, and only a statement that had begun already can still land.
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

/** The first guard that a higher token stands for. */
async function overtakenOf(writer: Writer, guards: readonly Guard[]): Promise<string | undefined> {
  for (const { scope, token } of guards) if ((await highestToken(writer, scope)) > token) return scope;
  return undefined;
}

/** 0 for a scope that was never claimed. */
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
