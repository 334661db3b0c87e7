import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../core/clock.ts';
import { organizationName } from '../../../core/domain/caller.ts';
import { DEPLOYMENT_OWNER } from '../../../core/domain/dashboard.ts';
import { fail } from '../../../core/errors.ts';
import type { Log } from '../../../core/log.ts';
import type { KeptResult } from '../../results/results.ts';
import type { BoundSandbox } from '../deps.ts';
import type { Meta } from '../meta.ts';
import { sqlBudget, sqlTierOf } from '../prices.ts';
import type { SavedQuery } from '../saved/definition.ts';
import { judged, rejected } from '../sql/failures.ts';
import type { KeptSql } from '../sql/obtain.ts';

/**
 * Results of the deployment’s own queries. A reader gets the kept one; where that is older than its cadence, one run makes it anew, for all
 * readers and one query at a time. Nothing runs while nobody reads, so an idle service costs nothing.
 */
export interface Standing {
  /** Rejects with a `Failure` where there is no result and none can be made now. */
  read(query: SavedQuery, values: Readonly<Record<string, string>>): Promise<KeptResult>;
}

export interface StandingDeps {
  readonly kept: Pick<KeptSql, 'obtain' | 'results' | 'answers'>;
  readonly sql: BoundSandbox;
  /** What the index knows now, for the answer. */
  meta(): Promise<Meta>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Results that are remembered by query and values. Values are closed lists, but for the wallet of a seller. */
const REMEMBERED = 500;
/** Runs that wait for the one under way; more are refused until some have ended. */
const WAITING_MAX = 64;
/** How long a reader of an older result waits for the new one before it gets the older one. */
const PATIENCE_MS = 1_500;
const RETRY_AFTER_SECONDS = 5;
/** The most seconds that one run may take. */
const RUN_MAX_SECONDS = 10;

/** A longer period changes more slowly, and costs more. Seconds by the most hours. */
const CADENCES = [
  { hoursMax: 24, seconds: 60 },
  { hoursMax: 168, seconds: 300 },
  { hoursMax: Number.POSITIVE_INFINITY, seconds: 900 },
] as const;

/** How old a result may be before it is made anew. */
export function cadenceSeconds(
  { content: { freshnessSeconds } }: Pick<SavedQuery, 'content'>,
  values: Readonly<Record<string, string>>,
): number {
  const hours = Number(values['hours'] ?? 0);
  const slow = CADENCES.find(({ hoursMax }) => hours <= hoursMax)?.seconds ?? 0;
  return Math.max(freshnessSeconds, slow);
}

interface Entry {
  kept: KeptResult | null;
  /** The run that makes it, or waits to. */
  making: Promise<KeptResult> | null;
}

export function createStanding(deps: StandingDeps): Standing {
  const { clock, log } = deps;
  const entries = new LRUCache<string, Entry>({ max: REMEMBERED });
  const oneAtATime = queue();
  const entryOf = (query: SavedQuery, values: Values): Entry => {
    const name = JSON.stringify([query.slug, values]);
    const known = entries.get(name);
    if (known !== undefined) return known;
    const made: Entry = { kept: null, making: null };
    entries.set(name, made);
    return made;
  };
  const make = (entry: Entry, query: SavedQuery, values: Values): Promise<KeptResult> => {
    entry.making ??= oneAtATime(() => run(deps, query, values))
      .then((kept) => {
        entry.kept = kept;
        return kept;
      })
      .finally(() => {
        entry.making = null;
      });
    return entry.making;
  };
  return {
    read: async (query, values) => {
      const entry = entryOf(query, values);
      const { kept } = entry;
      if (kept === null) return make(entry, query, values);
      if (clock.nowMs() - kept.createdAtMs <= cadenceSeconds(query, values) * 1_000) return kept;
      const made = make(entry, query, values).catch((error: unknown) => {
        log.debug({ err: error, query: query.slug }, 'a result of the deployment was not made anew');
        return kept;
      });
      return withinPatience(made, kept);
    },
  };
}

type Values = Readonly<Record<string, string>>;

/** The new result where it is there soon, and the older one otherwise. */
async function withinPatience(made: Promise<KeptResult>, older: KeptResult): Promise<KeptResult> {
  let timer: NodeJS.Timeout | undefined;
  const waited = new Promise<KeptResult>((resolve) => {
    timer = setTimeout(() => resolve(older), PATIENCE_MS);
  });
  try {
    return await Promise.race([made, waited]);
  } finally {
    clearTimeout(timer);
  }
}

/** One run after the other, so that many readers of many dashboards take one place of the engine. */
function queue(): <Made>(work: () => Promise<Made>) => Promise<Made> {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async (work) => {
    if (waiting >= WAITING_MAX)
      throw fail('overloaded', {
        detail: 'Too many results of dashboards are being made. Ask again in some seconds.',
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    waiting += 1;
    const turn = last.then(work).finally(() => {
      waiting -= 1;
    });
    last = turn.catch(() => undefined);
    return turn;
  };
}

const CALLER = organizationName(DEPLOYMENT_OWNER);

async function run(
  { kept, sql, meta }: StandingDeps,
  query: SavedQuery,
  parameters: Values,
): Promise<KeptResult> {
  const { sql: text, tier, maxRows } = query.content;
  const accepted = await judged({ text, parameters, caller: CALLER }, sql);
  kept.answers.printed.set(text, accepted.text);
  const { kept: made } = await kept
    .obtain({
      accepted,
      parameters,
      tier,
      maxSeconds: RUN_MAX_SECONDS,
      maxRows,
      mustBeWhole: false,
      // Another process may have made it.
      maxAgeSeconds: cadenceSeconds(query, parameters),
      owner: { kind: 'author', id: DEPLOYMENT_OWNER },
      callerName: CALLER,
      meta: await meta(),
      warnings: [],
    })
    .catch((error: unknown) =>
      rejected(
        error,
        { budget: sqlBudget(sqlTierOf(tier)), hasKey: false, text, parameters },
        { sql, callerName: CALLER },
      ),
    );
  return made;
}
