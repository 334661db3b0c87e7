import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedEngine } from '../clickhouse/embedded/supervisor.ts';
import type { Row } from '../clickhouse/engine/engine.ts';
import { createWriter } from '../clickhouse/engine/http-engine.ts';
import { sql } from '../clickhouse/engine/sql.ts';
import { migrate } from '../clickhouse/migrate/migrate.ts';
import { createLog } from '../core/log.ts';
import { refusalOf, UNLISTED_FUNCTIONS } from '../sandbox/policy/function-policy.ts';
import { type LookedFor, lookedForIn, reviewedWork } from '../sandbox/policy/function-work.ts';
import type { FunctionEntry, FunctionFile } from '../sandbox/policy/policy.ts';

/**
 * `npm run gen -- functions`: reads the functions of the engine that is installed, leaves out what sandbox/policy/function-policy.ts
 * refuses, and writes sandbox/policy/functions.json. With `--check` it writes nothing and ends with 1 when the file would change: after
 * an engine upgrade a person reviews every new name before callers may use it.
 */

const TARGET = new URL('../sandbox/policy/functions.json', import.meta.url);
const ENGINE_MEGABYTES = 1_024;

async function readEngine(): Promise<FunctionFile> {
  const dataDir = mkdtempSync(join(tmpdir(), 'settlement-index-functions-'));
  const log = createLog('error', 'gen functions');
  const engine = await startEmbeddedEngine({
    dataDir,
    database: 'functions',
    maxMemoryMegabytes: ENGINE_MEGABYTES,
    nice: 0,
    log,
  });
  await migrate(engine.access, log); // its database does not exist before
  const writer = createWriter(engine.access, log);
  const ask = async (name: string, statement: ReturnType<typeof sql>) =>
    (await writer.rows({ name, sql: statement, maxSeconds: 10, maxRows: 10_000 })).rows;
  try {
    const [version] = await ask('engine-version', sql`SELECT version()`);
    const functions = await ask(
      'functions',
      sql`SELECT f.name, f.is_aggregate, f.case_insensitive, if(o.name = '', f.name, o.name), o.syntax, o.arguments, o.categories
          FROM system.functions AS f
          LEFT JOIN system.functions AS o ON o.name = if(f.alias_to = '', f.name, f.alias_to)
          ORDER BY f.name`,
    );
    const combinators = await ask(
      'combinators',
      sql`SELECT name FROM system.aggregate_function_combinators WHERE NOT is_internal ORDER BY name`,
    );
    const unlisted = UNLISTED_FUNCTIONS.map(({ name, aggregate }) => [
      name,
      aggregate ? 1 : 0,
      1,
      name,
      '',
      '',
      '',
    ]);
    return {
      engine: String(version?.[0]),
      allowed: [...functions, ...unlisted]
        .filter(([name]) => refusalOf(String(name)) === undefined)
        .map(entryOf)
        .filter(({ name }, at, all) => all.findIndex((other) => other.name === name) === at)
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
      combinators: combinators.map(([name]) => String(name)),
    };
  } finally {
    await writer.close();
    await engine.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** An alias is documented as the function that it stands for. */
function entryOf(row: Row): FunctionEntry {
  const [name, aggregate, anyCase, meant, syntax, itsArguments, categories] = row.map(String);
  const isAggregate = aggregate === '1';
  const documented = { syntax: syntax ?? '', arguments: itsArguments ?? '', categories: categories ?? '' };
  const work = reviewedWork({ name: meant ?? '', categories: documented.categories });
  const lookedFor = lookedForIn(documented);
  return {
    name: name ?? '',
    ...(isAggregate ? { aggregate: true } : {}),
    ...(anyCase === '1' ? { anyCase: true } : {}),
    ...(isAggregate || work === 'unknown' ? {} : { work }),
    ...(isAggregate ? {} : lookedForEntry(lookedFor)),
  };
}

function lookedForEntry(lookedFor: LookedFor | null): Partial<FunctionEntry> {
  if (lookedFor === null) return {};
  return lookedFor.regexp ? { regexp: lookedFor.at } : { needle: lookedFor.at };
}

/** One function a line, so that a difference reads well. */
function print({ engine, combinators, allowed }: FunctionFile): string {
  const lines = allowed.map((entry) => `    ${JSON.stringify(entry)}`).join(',\n');
  return `{\n  "engine": ${JSON.stringify(engine)},\n  "combinators": ${JSON.stringify(combinators)},\n  "allowed": [\n${lines}\n  ]\n}\n`;
}

function differences(before: FunctionFile, after: FunctionFile): string[] {
  const names = ({ allowed }: FunctionFile) => new Set(allowed.map(({ name }) => name));
  const [old, fresh] = [names(before), names(after)];
  return [
    ...[...fresh].filter((name) => !old.has(name)).map((name) => `+ ${name}`),
    ...[...old].filter((name) => !fresh.has(name)).map((name) => `- ${name}`),
  ];
}

async function main(argv: readonly string[]): Promise<number> {
  const unknown = argv.find((word) => word !== '--check');
  if (unknown !== undefined) {
    process.stderr.write(`npm run gen -- functions does not know ${unknown}; it takes --check or nothing\n`);
    return 2;
  }
  const after = await readEngine();
  const before = readBefore();
  for (const line of differences(before, after)) process.stdout.write(`${line}\n`);
  const isSame = JSON.stringify(before) === JSON.stringify(JSON.parse(print(after)));
  process.stdout.write(
    `engine ${after.engine}: ${after.allowed.length} functions allowed; ${isSame ? 'nothing changed' : 'the list changed'}\n`,
  );
  if (argv.includes('--check')) return isSame ? 0 : 1;
  writeFileSync(TARGET, print(after));
  return 0;
}

function readBefore(): FunctionFile {
  try {
    return JSON.parse(readFileSync(TARGET, 'utf8')) as FunctionFile; // our own file
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    return { engine: 'none', allowed: [], combinators: [] };
  }
}

process.exitCode = await main(process.argv.slice(3));
