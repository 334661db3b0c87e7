import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Log } from '../../../core/log.ts';
import {
  closeQuietly,
  createRedis,
  dropSilentConnection,
  harmless,
  tellChanges,
} from '../../../core/redis-client.ts';
import { StoreUnavailable } from '../store.ts';

/** A command that takes longer is given up. What it changed by then is not known: every script may be repeated. */
const COMMAND_TIMEOUT_MS = 2_000;
/** How long the first commands of a process wait for its first connection. */
const FIRST_CONNECTION_MS = 2_000;

/** One script for each change, and for each question that reads two values of one instant: Redis runs a script alone. */
const SCRIPTS = {
  addJob: ['add-job'],
  addKey: ['add-key'],
  addQuery: ['add-query'],
  addResult: ['add-result'],
  addShare: ['add-share'],
  allowResult: ['allow-result'],
  beginReply: ['begin-reply'],
  beginServing: ['begin-serving'],
  cancelJob: ['cancel-job'],
  capture: ['units-common', 'capture'],
  changeKey: ['change-key'],
  changePlan: ['change-plan'],
  claimHandle: ['claim-handle'],
  claimJob: ['claim-job'],
  claimPayment: ['claim-payment'],
  claimRefresh: ['claim-refresh'],
  countUsage: ['count-usage'],
  createOrganization: ['create-organization'],
  dropClaim: ['drop-claim'],
  endJob: ['end-job'],
  endRefresh: ['end-refresh'],
  finishReply: ['finish-reply'],
  finishServing: ['finish-serving'],
  forgetQueries: ['forget-queries'],
  forgetJobs: ['forget-jobs'],
  grant: ['units-common', 'grant'],
  grantSale: ['units-common', 'grant-sale'],
  hold: ['units-common', 'hold'],
  issueKey: ['issue-key'],
  leaveOpen: ['leave-open'],
  putBackJob: ['put-back-job'],
  putOwnTable: ['put-own-table'],
  putQuery: ['put-query'],
  readKey: ['read-key'],
  readListing: ['read-listing'],
  readQuery: ['read-query'],
  recordSettlement: ['record-settlement'],
  release: ['units-common', 'release'],
  removeOwnTable: ['remove-own-table'],
  removeQuery: ['remove-query'],
  removeResult: ['remove-result'],
  renewJob: ['renew-job'],
  revokeKey: ['revoke-key'],
  revokeShare: ['revoke-share'],
  takeRate: ['take-rate'],
} as const satisfies Record<string, readonly string[]>;

type ScriptName = keyof typeof SCRIPTS;

type ScriptCommand = (keys: number, ...keysAndValues: readonly (string | number)[]) => Promise<unknown>;

/** The methods that `defineCommand` adds, which the types of ioredis do not know. */
type WithScripts = Redis & Readonly<Record<ScriptName, ScriptCommand>>;

export interface RedisConnection {
  /** Runs a command; rejects with `StoreUnavailable` when Redis does not do it in time. */
  run<T>(command: (redis: Redis) => Promise<T>): Promise<T>;
  script(name: ScriptName, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * One connection to Redis that comes back by itself. While it is away commands fail at once instead of queueing: callers get their
 * 503 within milliseconds, and nothing is done minutes later for callers who are gone.
 */
export function openConnection(options: {
  readonly url: string;
  readonly log: Log;
  /** Runs once, after the first connection. Its rejection is logged. */
  onFirstReady(connection: RedisConnection): Promise<void>;
}): RedisConnection {
  const { log } = options;
  const redis = connect(options.url);
  const first = firstConnection(redis);
  let waiting = true;
  void first.then(() => {
    waiting = false;
  });
  tellChanges(redis, options.url, log);
  const writeTogether = togetherOn(redis);

  const run = async <T>(command: (redis: WithScripts) => Promise<T>): Promise<T> => {
    if (waiting) await first;
    writeTogether();
    try {
      return await command(redis);
    } catch (error) {
      dropSilentConnection(redis, error);
      throw new StoreUnavailable(harmless(error, options.url));
    }
  };

  const connection: RedisConnection = {
    run,
    script: (name, keys, values) => run((client) => client[name](keys.length, ...keys, ...values)),
    close: () => closeQuietly(redis),
  };
  redis.once('ready', () => {
    options.onFirstReady(connection).catch((error: unknown) => {
      log.warn({ reason: harmless(error, options.url).message }, 'Redis was not asked how it keeps data');
    });
  });
  return connection;
}

function connect(url: string): WithScripts {
  const redis = createRedis(url, {
    commandTimeout: COMMAND_TIMEOUT_MS,
    enableOfflineQueue: false,
    // `togetherOn` does the same for less: a pipeline of the client's costs each command some 20 µs.
    enableAutoPipelining: false,
    autoResendUnfulfilledCommands: false,
    // Zero: what was running when the connection broke is rejected then, not after the next attempts.
    maxRetriesPerRequest: 0,
  });
  // ioredis sends EVALSHA, and the text where Redis does not know it: after a restart, say, when nothing has run yet.
  for (const [name, files] of Object.entries(SCRIPTS))
    redis.defineCommand(name, { lua: files.map(readLua).join('\n') });
  return redis as WithScripts;
}

/** Scripts are files in the directory of this one (`npm run build` copies them). */
export function readLua(file: string): string {
  return readFileSync(new URL(`./lua/${file}.lua`, import.meta.url), 'utf8');
}

/**
 * To be called before a command: the commands of one turn of the event loop leave in one write, because a system call for each
 * would cost more than the commands do.
 */
function togetherOn(redis: Redis): () => void {
  let held: Redis['stream'] | undefined;
  return () => {
    const { stream } = redis;
    if (redis.status !== 'ready' || stream === held) return;
    held = stream;
    stream.cork();
    setImmediate(() => {
      held = undefined;
      stream.uncork();
    });
  };
}

/** Resolves with the first connection, when the first attempt fails, or after a while; commands then answer for themselves. */
async function firstConnection(redis: Redis): Promise<void> {
  const settled = new AbortController();
  const done = new Promise<void>((resolve) => {
    for (const event of ['ready', 'close', 'end'] as const) redis.once(event, () => resolve());
  });
  const late = sleep(FIRST_CONNECTION_MS, undefined, { signal: settled.signal }).catch(() => undefined);
  await Promise.race([done, late]);
  settled.abort();
}

/** Redis answers text, null, or a list of these. Anything else means that another program wrote under the prefix. */
export function textOf(value: unknown): string {
  if (typeof value !== 'string') throw unreadable();
  return value;
}

export function numberOf(value: unknown): number {
  const number = Number(textOf(value));
  if (!Number.isFinite(number)) throw unreadable();
  return number;
}

export function nullable<T>(decode: (value: unknown) => T, value: unknown): T | null {
  return value === null || value === undefined ? null : decode(value);
}

export function listOf(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw unreadable();
  return value;
}

export function oneOf<const T extends string>(words: readonly T[], value: unknown): T {
  const found = words.find((candidate) => candidate === value);
  if (found === undefined) throw unreadable();
  return found;
}

/** Fields and values in turn, as HGETALL answers inside a script. */
export function fieldsOf(value: unknown): ReadonlyMap<string, string> {
  const flat = listOf(value).map(textOf);
  const fields = new Map<string, string>();
  for (let i = 0; i + 1 < flat.length; i += 2) fields.set(flat[i] ?? '', flat[i + 1] ?? '');
  return fields;
}

function unreadable(): Error {
  return new Error('the control store holds a record that cannot be read');
}
