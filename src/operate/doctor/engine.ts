import { type EngineWalls, hasFileWall, spellWalls } from '../../../clickhouse/embedded/walls.ts';
import {
  type EngineAccess,
  EngineError,
  type Guest,
  type Reader,
} from '../../../clickhouse/engine/engine.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { commandText } from '../../../core/command-text.ts';
import type { Config } from '../../../core/config/config.ts';
import { METRIC_PREFIX } from '../../../core/metric-families.ts';
import { checkGuest, GuestUnfit } from '../../../sandbox/run/guest.ts';
import { OPEN_TO } from '../../../sandbox/sandbox.ts';
import { type Finding, failure, ok, skipped, warning } from './finding.ts';
import { readMetrics } from './statements.ts';

/** Whether the engine answers, which build it is, and whether its guest is kept in. */

const MAX_SECONDS = 5;

/** The version of an engine that answers, with the findings about it. */
export async function checkEngine(
  reader: Reader,
): Promise<{ readonly version: string | null; readonly findings: readonly Finding[] }> {
  try {
    const { rows } = await reader.rows({
      name: 'doctor-version',
      sql: sql`SELECT version()`,
      maxSeconds: MAX_SECONDS,
      maxRows: 1,
    });
    const version = String(rows[0]?.[0]);
    return { version, findings: [ok('engine', `answers, version ${version}`), judgeVersion(version)] };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return { version: null, findings: [unreachable(error)] };
  }
}

/** UNKNOWN_DATABASE. */
const NO_DATABASE = 81;

function unreachable({ problem, engineCode }: EngineError): Finding {
  if (engineCode === NO_DATABASE)
    return warning(
      'engine',
      'answers, but does not have our tables yet',
      `Start the service, or ${commandText('migrate')}.`,
    );
  return failure(
    'engine',
    `does not answer (${problem})`,
    'Start it, or correct clickhouse.url and the users of the configuration; an embedded engine needs a running service or a free data directory.',
  );
}

/** A build with the fault is no failure by itself: the grants of the guest hold there too, which the next check proves. */
export function judgeVersion(version: string): Finding {
  const lifts = liftsReadonly(version);
  if (lifts === false)
    return ok('engine_version', `${version} has no known fault that the sandbox stumbles over`);
  return warning(
    'engine_version',
    lifts === null
      ? `${version} is no version that can be judged`
      : `${version} lets a nested SETTINGS lift the read-only mode of a query; the grants of the guest alone keep callers in`,
    `Use an engine of your own (CLICKHOUSE_URL) of one of these versions or newer: ${MENDED_VERSIONS}.`,
  );
}

/**
 * Statements that the guest must be refused, each an escape that an engine once had: through itself, through a nested lift of the
 * read-only mode, and through everything that reads files, networks, or the engine’s own tables. `raw` is the database of our tables.
 */
export function hostileSet(raw: string): readonly string[] {
  return [
    `SELECT count() FROM ${raw}.settlements`,
    `SELECT count() FROM (SELECT * FROM ${raw}.usage_ledger SETTINGS readonly = 0)`,
    "SELECT * FROM file('/etc/hostname', 'LineAsString')",
    "SELECT * FROM (SELECT * FROM file('/etc/hostname', 'LineAsString') SETTINGS readonly = 0)",
    "SELECT * FROM (SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString') SETTINGS readonly = 0)",
    "SELECT * FROM (SELECT * FROM remote('127.0.0.1:1', 'system', 'one') SETTINGS readonly = 0)",
    'SELECT name FROM system.users',
    'SELECT query FROM system.processes',
    'CREATE TABLE doctor_was_here (a UInt8) ENGINE = Memory',
    `INSERT INTO ${raw}.settlements (chain) VALUES ('doctor')`,
    'KILL QUERY WHERE 1',
    'SYSTEM FLUSH LOGS',
    'SET readonly = 0',
    'SELECT 1 SETTINGS max_memory_usage = 0',
  ];
}

/** ACCESS_DENIED, READONLY, SETTING_CONSTRAINT_VIOLATION. */
const REFUSALS: ReadonlySet<number> = new Set([497, 164, 452]);
/** UNKNOWN_TABLE: a table that does not exist cannot leak. */
const NOT_THERE = 60;

/** Runs the start's own check and then the hostile set, as the guest. */
export async function checkGuestUser(
  guest: Guest,
  access: Pick<EngineAccess, 'database' | 'cluster'>,
): Promise<Finding> {
  try {
    await checkGuest(guest, access);
  } catch (error) {
    if (error instanceof GuestUnfit) return unfit(error.message);
    if (!(error instanceof EngineError)) throw error;
    if (error.engineCode === NOT_THERE)
      return skipped(
        'guest',
        `there are no public tables yet: start the service, or ${commandText('migrate')}`,
      );
    if (error.problem === 'engine_refused')
      return unfit(`it cannot read the public tables (code ${error.engineCode})`);
    return skipped('guest', `the engine does not answer it (${error.problem})`);
  }
  return tryHostileSet(guest, access.database);
}

/** Every statement of the set must be refused by the engine itself. */
export async function tryHostileSet(guest: Guest, database: string): Promise<Finding> {
  const texts = hostileSet(database);
  for (const text of texts) {
    const escaped = await escapes(guest, text);
    if (escaped !== null) return unfit(`it was not refused ${JSON.stringify(text)} (${escaped})`);
  }
  return ok(
    'guest',
    `is refused all ${texts.length} statements of the hostile set, and its limits are pinned`,
  );
}

/** How the engine let a statement pass; null where it was refused. */
async function escapes(guest: Guest, text: string): Promise<string | null> {
  try {
    await guest.explain({ name: 'doctor-hostile', text, maxSeconds: MAX_SECONDS });
    return 'it ran';
  } catch (error) {
    if (!(error instanceof EngineError)) return error instanceof SyntaxError ? 'it ran' : 'no answer';
    const { engineCode } = error;
    if (engineCode !== null && (REFUSALS.has(engineCode) || engineCode === NOT_THERE)) return null;
    return `code ${engineCode ?? error.problem}`;
  }
}

function unfit(says: string): Finding {
  return failure(
    'guest',
    says,
    'No SQL of callers runs until this is mended: give the guest the profile and the one grant of docs/operators.md, "Callers’ SQL on your engine".',
  );
}

/**
 * Builds in which a nested `SETTINGS readonly = 0` lifts the read-only mode of a query (ClickHouse issue 116028), by the release
 * line in which it was fixed. Source: docs/design/sandbox.md, docs/operators.md.
 */
const MENDED_IN: Readonly<Record<string, readonly [patch: number, build: number]>> = {
  '26.3': [27, 4],
  '26.6': [4, 51],
  '26.7': [6, 49],
  '26.8': [2, 2],
};
/** Release lines from here on include the fix. */
const NEWEST_LINE = [26, 8] as const;

export const MENDED_VERSIONS = Object.entries(MENDED_IN)
  .map(([line, [patch, build]]) => `${line}.${patch}.${build}`)
  .join(', ');

/** Whether a version has the fault; null for a text that is no version. */
export function liftsReadonly(version: string): boolean | null {
  const parts = /^(\d+)\.(\d+)\.(\d+)(?:\.(\d+))?/.exec(version);
  if (parts === null) return null;
  const [major = 0, minor = 0, patch = 0, build = 0] = parts.slice(1).map((part) => Number(part ?? 0));
  const mended = MENDED_IN[`${major}.${minor}`];
  if (mended !== undefined) return patch < mended[0] || (patch === mended[0] && build < mended[1]);
  const [newestMajor, newestMinor] = NEWEST_LINE;
  return major < newestMajor || (major === newestMajor && minor < newestMinor);
}

/** The walls between callers' SQL and the engine's machine, in addition to the inspector of the SQL texts. */

/** On every Linux machine, and none of them the engine's: what reads one reads others. */
const FOREIGN_FILES = ['/etc/hostname', '/etc/passwd', '/proc/self/environ'];

const SECTION = 'docs/operators.md, "Walls around the engine"';

/** The walls that a running embedded engine has; undefined where a service of an older version does not say. */
export function judgeWalls(walls: EngineWalls | undefined): Finding {
  if (walls === undefined)
    return skipped('walls', 'the running service does not report them: it is an older version');
  const says = spellWalls(walls);
  if (!walls.cleanEnvironment)
    return failure('walls', says, 'Report this: the engine is given an environment of its own.');
  if (!hasFileWall(walls))
    return warning(
      'walls',
      `${says}; so SQL is for organizations only`,
      `Use a kernel with Landlock (Linux 5.19 or newer), or start the service as root: ${SECTION}.`,
    );
  if ('missing' in walls.sockets)
    return warning(
      'walls',
      `${says}; so the guest's grants alone keep SQL from connecting to other machines`,
      `Let the service's processes set a filter of system calls (seccomp), which containers allow by default: ${SECTION}.`,
    );
  return ok('walls', says);
}

/**
 * Reads files as the guest, past the inspector. `files` must be closed, in addition to the usual ones. Nothing of the text that is
 * read is shown.
 */
export async function tryFiles(guest: Guest, files: readonly string[] = FOREIGN_FILES): Promise<Finding> {
  const read: string[] = [];
  for (const file of files) {
    const reading = await readsFile(guest, file);
    if (reading === 'no answer') return skipped('files', 'the engine did not answer the guest');
    if (reading === 'read') read.push(file);
  }
  if (read.length === 0) return ok('files', `the function file() opens none of ${files.join(', ')}`);
  return failure(
    'files',
    `as the guest, the function file() opens ${read.join(', ')}: the inspector of callers’ SQL is the only wall`,
    `Confine it: user_files_path of a server to an empty directory, or what ${SECTION} says of the embedded engine.`,
  );
}

async function readsFile(guest: Guest, file: string): Promise<'read' | 'closed' | 'no answer'> {
  try {
    await guest.explain({
      name: 'doctor-file',
      text: `SELECT length(file('${file.replaceAll(/[\\']/g, '\\$&')}'))`,
      maxSeconds: MAX_SECONDS,
    });
    return 'read';
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return error.problem === 'engine_refused' ? 'closed' : 'no answer';
  }
}

/** Which files must be closed to an embedded engine: with a user of its own alone, what every user may read stays open. */
export function closedFiles(walls: EngineWalls | undefined, secret: string): readonly string[] {
  if (walls === undefined || 'abi' in walls.landlock) return [secret, ...FOREIGN_FILES];
  return hasFileWall(walls) ? [secret] : [];
}

const OPEN_METRIC = `${METRIC_PREFIX}sql_open_to`;
const OPEN_SAMPLE = /^(?:\{[^}]*\})? (\d)$/;

/** Whose SQL the running service runs, which only it knows: read from its `/metrics`. */
export async function checkSql({ metrics }: Pick<Config, 'metrics'>): Promise<Finding> {
  if (metrics.port === null || metrics.port === 0)
    return skipped('sql', 'metrics.port is not set; the log of the service says whose SQL it runs');
  const text = await readMetrics(metrics);
  if (text === null) return skipped('sql', 'no service answers at metrics.port');
  const samples = text.split('\n').filter((line) => line.startsWith(OPEN_METRIC));
  const [value] = samples.flatMap((line) => OPEN_SAMPLE.exec(line.slice(OPEN_METRIC.length))?.[1] ?? []);
  if (value === undefined) return skipped('sql', 'what answers at metrics.port runs no SQL');
  return judgeOpenTo(OPEN_TO[OPEN_TO.length - 1 - Number(value)]);
}

function judgeOpenTo(openTo: (typeof OPEN_TO)[number] | undefined): Finding {
  if (openTo === 'everyone') return ok('sql', 'run for everyone');
  if (openTo === 'organizations')
    return warning(
      'sql',
      'run for organizations only: several queries could not be stopped',
      'It is run for everyone again an hour after the last one. See "Queries that cannot be stopped" in docs/operators.md.',
    );
  return failure(
    'sql',
    'run for no caller: queries could not be stopped again and again',
    'See "Queries that cannot be stopped" in docs/operators.md, then start the service anew.',
  );
}
