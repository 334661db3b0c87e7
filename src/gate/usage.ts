import { randomUUID } from 'node:crypto';
import type { Clock } from '../../core/clock.ts';
import {
  dayOf,
  QUERY_TEXT_MAX_CHARS,
  type QueryRun,
  type UsageLane,
  type UsageRow,
} from '../../core/domain/usage.ts';
import { Failure } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { type UsageStore, usageOwner } from '../accounts/usage-store.ts';
import type { AskedQuery } from '../operations/define.ts';
import type { Caller } from '../operations/deps.ts';

/**
 * Counts calls that drew no units, and keeps runs of SQL, in the memory of this process, and writes them in batches: an answer never
 * waits for them. A process that dies loses the last seconds of both. Units are counted by the change that captures them.
 */
export interface UsageRecorder {
  /** Does nothing for a caller without an account: no key and no organization. */
  countCall(caller: Caller, call: { readonly operation: string; readonly usdMicros: bigint | null }): void;
  /** Keeps a run for the list of its organization. */
  keepQuery(run: Omit<QueryRun, 'textCut'>): void;
  /** Writes the counts that are in memory. Never rejects. */
  flush(): Promise<void>;
}

/** How much of it a crash may lose. */
const FLUSH_AFTER_MS = 2_000;
/** Written before its time when there are so many: a batch is some 10 ms of the store's work. */
const COUNTS_MAX = 1_000;
const QUERIES_MAX = 100;
/** Runs that wait for a store that does not answer; older ones are dropped first. At most 16 MB of text. */
const QUERIES_WAITING_MAX = 1_000;

type Count = UsageRow & { readonly owner: string };

export function createUsageRecorder(deps: {
  readonly store: Pick<UsageStore, 'count' | 'addQueries'>;
  readonly clock: Clock;
  readonly log: Log;
}): UsageRecorder {
  const { store, clock, log } = deps;
  let counts = new Map<string, Count>();
  let runs: QueryRun[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    const batch = [...counts.values()];
    const kept = runs;
    counts = new Map();
    runs = [];
    try {
      if (kept.length > 0) await store.addQueries(kept);
    } catch (error) {
      // Each is kept once by its id, however often it is sent.
      runs = [...kept, ...runs].slice(-QUERIES_WAITING_MAX);
      log.warn({ err: error, queries: kept.length }, 'runs of SQL could not be kept yet');
    }
    try {
      if (batch.length > 0) await store.count(batch);
    } catch (error) {
      // Not sent again: the store may have counted them.
      log.warn({ err: error, counts: batch.length }, 'calls that cost nothing were not counted');
    }
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(write);
    return writing;
  };
  const soon = (isFull: boolean): void => {
    if (isFull) void flush();
    else timer ??= setTimeout(() => void flush(), FLUSH_AFTER_MS).unref();
  };

  return {
    countCall(caller, { operation, usdMicros }) {
      const owner = ownerOf(caller);
      if (owner === null) return;
      const lane = laneOf(caller, usdMicros);
      const day = dayOf(clock.nowMs());
      const keyId = caller.key?.id ?? '';
      const name = JSON.stringify([owner, day, keyId, operation, lane]);
      const before = counts.get(name);
      counts.set(name, {
        ...{ owner, day, keyId, operation, lane },
        calls: (before?.calls ?? 0) + 1,
        units: 0,
        usdMicros: (before?.usdMicros ?? 0) + Number(usdMicros ?? 0n),
      });
      soon(counts.size >= COUNTS_MAX);
    },
    keepQuery({ text, ...run }) {
      const isLong = text.length > QUERY_TEXT_MAX_CHARS;
      runs.push({
        ...run,
        // A pair of surrogates is not cut in two.
        text: isLong ? text.slice(0, QUERY_TEXT_MAX_CHARS).replace(/[\ud800-\udbff]$/, '') : text,
        textCut: isLong,
      });
      soon(runs.length >= QUERIES_MAX);
    },
    flush,
  };
}

function ownerOf({ organization, key, standing }: Caller): string | null {
  if (organization !== null) return usageOwner({ organizationId: organization.id });
  return standing === 'trial' && key != null ? usageOwner({ trialKeyId: key.id }) : null;
}

function laneOf({ standing }: Caller, usdMicros: bigint | null): UsageLane {
  if (usdMicros !== null) return 'x402';
  return standing === 'trial' ? 'trial' : 'free';
}

/** Runs the call and keeps its query, where it has one, for the caller's own list. */
export async function keepingQuery<Answer extends { readonly chargedQu: number }>(
  { usage, clock }: { readonly usage?: UsageRecorder; readonly clock: Clock },
  {
    surface,
    asked,
    caller,
  }: Pick<QueryRun, 'surface'> & { readonly asked: AskedQuery | null; readonly caller: Caller },
  run: (onRows: (rows: number | null) => void) => Promise<Answer>,
): Promise<Answer> {
  const startedAtMs = clock.nowMs();
  let rows: number | null = null;
  const keep = (status: string, chargedQu: number): void => {
    // What visitors ask with the key that is lent to all of them is kept for none.
    if (asked === null || caller.organization === null || caller.key?.isLent === true) return;
    const durationMs = Math.max(0, clock.nowMs() - startedAtMs);
    const ran = { startedAtMs, durationMs, surface, status, chargedQu };
    usage?.keepQuery({
      ...asked,
      ...ran,
      id: `qry_${randomUUID()}`,
      organizationId: caller.organization.id,
      keyId: caller.key?.id ?? '',
      rows: status === SUCCEEDED ? rows : null,
    });
  };
  try {
    const answer = await run((counted) => {
      rows = counted;
    });
    keep(SUCCEEDED, answer.chargedQu);
    return answer;
  } catch (error) {
    const isFailure = error instanceof Failure;
    keep(statusOf(error), isFailure ? (error.context.charged?.chargedQu ?? 0) : 0);
    throw error;
  }
}

const SUCCEEDED = 'succeeded';

/** A query that its caller stopped is cancelled, whichever way; any other failure has its code. */
function statusOf(error: unknown): string {
  if (!(error instanceof Failure)) return 'internal_error';
  return error.context.query?.reason === CANCELLED ? CANCELLED : error.code;
}

const CANCELLED = 'cancelled';
