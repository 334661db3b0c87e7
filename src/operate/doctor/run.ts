import { accessFileOf, readAccessFile } from '../../../clickhouse/embedded/directory.ts';
import { EngineUnavailable } from '../../../clickhouse/embedded/library.ts';
import type { EngineAccess, Guest } from '../../../clickhouse/engine/engine.ts';
import { createReader } from '../../../clickhouse/engine/http-engine.ts';
import { createGuest } from '../../../clickhouse/guest/engine.ts';
import { systemClock } from '../../../core/clock.ts';
import type { Config } from '../../../core/config/config.ts';
import type { Log } from '../../../core/log.ts';
import { ChildStartError } from '../../../core/process/supervise.ts';
import { MissingPackage } from '../../../core/user-error.ts';
import { openControlStore } from '../../accounts/open.ts';
import type { ControlStore } from '../../accounts/store.ts';
import { attachOrStartEngine, type CommandEngine, engineHome } from '../../attach-engine.ts';
import { checkAccounts } from './accounts.ts';
import { checkIndex, checkPayee, checkRpc, checkTokens } from './chains.ts';
import { checkEngine, checkGuestUser, checkSql, closedFiles, judgeWalls, tryFiles } from './engine.ts';
import { type Finding, failure, skipped } from './finding.ts';
import {
  checkConfiguration,
  checkDataDirectory,
  checkEngineClock,
  checkEngineDisks,
  checkNode,
} from './machine.ts';

export interface DoctorDeps {
  readonly config: Config;
  readonly log: Log;
}

/**
 * Checks everything that a deployment needs, with or without a running service: without one, an embedded engine is started for the
 * time of the check. Changes nothing. Throws only for a bug.
 */
export async function runDoctor({ config, log }: DoctorDeps): Promise<readonly Finding[]> {
  const nowMs = (): number => systemClock.nowMs();
  const [disk, engine, sql, accounts, ...rpc] = await Promise.all([
    checkDataDirectory(config),
    aroundEngine(config, log, nowMs),
    checkSql(config),
    aroundStore({ config, log }, nowMs),
    ...config.chains.map((chain) => checkRpc(chain, nowMs)),
    ...config.chains.map(checkTokens),
    ...config.payment.accept.map(checkPayee),
  ]);
  return [
    checkNode(process.version),
    ...checkConfiguration(config),
    disk,
    ...engine,
    sql,
    ...rpc.flat(),
    ...accounts,
  ];
}

async function aroundEngine(config: Config, log: Log, nowMs: () => number): Promise<readonly Finding[]> {
  let engine: CommandEngine;
  try {
    engine = await attachOrStartEngine(config, log);
  } catch (error) {
    if (!(error instanceof EngineUnavailable || error instanceof ChildStartError)) throw error;
    return [failure('engine', 'there is none, and none can be started', error.message)];
  }
  try {
    return await checkAccess(config, engine.access, log, nowMs);
  } finally {
    await engine.stop();
  }
}

async function checkAccess(
  config: Config,
  access: EngineAccess,
  log: Log,
  nowMs: () => number,
): Promise<readonly Finding[]> {
  const reader = createReader(access, log);
  const guest = createGuest(access);
  try {
    const { version, findings } = await checkEngine(reader);
    if (version === null) return findings;
    const hasGuest = config.clickhouse.url === null || config.clickhouse.guest !== null;
    return [
      ...findings,
      ...(hasGuest ? [await checkGuestUser(guest, access)] : []),
      ...(hasGuest ? await checkFiles(config, guest) : []),
      ...(await checkEngineDisks(reader)),
      await checkEngineClock(reader, nowMs),
      ...(await checkIndex(reader, config.chains, nowMs)),
    ];
  } finally {
    await Promise.all([reader.close(), guest.close()]);
  }
}

/** Which files SQL can read on the engine's machine; of an embedded engine also its walls. */
async function checkFiles(config: Config, guest: Guest): Promise<readonly Finding[]> {
  if (config.clickhouse.url !== null) return [await tryFiles(guest)];
  const home = engineHome(config);
  const walls = readAccessFile(home)?.walls;
  const closed = closedFiles(walls, accessFileOf(home));
  return [judgeWalls(walls), ...(closed.length === 0 ? [] : [await tryFiles(guest, closed)])];
}

async function aroundStore({ config, log }: DoctorDeps, nowMs: () => number): Promise<readonly Finding[]> {
  const store = openStore(config, log);
  if ('verdict' in store) return [store, skipped('ledger', 'nothing to read it from')];
  try {
    return await checkAccounts({ config, store, nowMs, log });
  } finally {
    await store.close();
  }
}

/** The finding where the library of a SQLite file is not installed. */
function openStore(config: Config, log: Log): ControlStore | Finding {
  try {
    return openControlStore({ config, log });
  } catch (error) {
    if (!(error instanceof MissingPackage)) throw error;
    return failure('control_store', 'the library of SQLite files is not installed', error.message);
  }
}
