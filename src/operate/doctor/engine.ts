import {
  type EngineAccess,
  EngineError,
  type Guest,
  type Reader,
} from '../../../clickhouse/engine/engine.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { commandText } from '../../../core/command-text.ts';
import { checkGuest, GuestUnfit } from '../../../sandbox/run/guest.ts';
import { liftsReadonly, MENDED_VERSIONS } from './engine-versions.ts';
import { type Finding, failure, ok, skipped, warning } from './finding.ts';

/** Whether the engine answers, which build it is, and whether its guest is kept in. */

const MAX_SECONDS = 5;

/** The version of an engine that answers, with what is to be said of it. */
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

/** UNKNOWN_DATABASE: what is not there cannot answer. */
const NO_DATABASE = 81;

function unreachable({ problem, engineCode }: EngineError): Finding {
  if (engineCode === NO_DATABASE)
    return warning(
      'engine',
      'answers, and has no tables of ours yet',
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
 * What the guest must be refused, each a way out that an engine once had: through itself, through a nested lift of the read-only
 * mode, and through everything that reads files, networks, or the engine’s own tables. `raw` is the database of our tables.
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
/** UNKNOWN_TABLE: what is not there cannot be read either. */
const NOT_THERE = 60;

/** Runs the start's own check and then the hostile set, as the guest. */
export async function checkGuestUser(
  guest: Guest,
  { database }: Pick<EngineAccess, 'database'>,
): Promise<Finding> {
  try {
    await checkGuest(guest, database);
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
  return tryHostileSet(guest, database);
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
