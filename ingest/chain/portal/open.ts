import type { Log } from '../../../core/log.ts';
import { backOffMs, retry } from '../../../core/process/retry.ts';
import { ReadAbandoned, type SourceCounters } from '../block-source.ts';
import { record } from '../read-answers.ts';
import { ProviderContradiction, RpcFailure } from '../rpc/failure.ts';
import { createRateLimit, type RateLimitOf } from '../rpc/limits.ts';
import type { Trouble } from '../rpc/pool.ts';
import { createPortalClient, PORTAL_LIMITS, type PortalClient, type PortalLimits } from './client.ts';
import type { ReadDeps } from './read-blocks.ts';
import { naturalOf } from './read-line.ts';

/** What reading from a data set of a Portal needs, whatever family of chains it is of. */

export interface PortalSourceDeps {
  readonly log: Log;
  readonly signal?: AbortSignal;
  /** Called for every failed request and contradiction; `provider` is a host, never a URL. */
  readonly onRetry?: (trouble: Trouble, provider: string) => void;
  readonly onExchange?: (provider: string, calls: number, startedMs: number) => void;
  readonly limits?: Partial<PortalLimits>;
  /** Counts requests together with other chains and processes; absent: this source alone. */
  readonly rateLimitOf?: RateLimitOf | undefined;
}

export interface PortalAt {
  /** URL of the Portal, without the data set: chains of one Portal share its limit. */
  readonly portalUrl: string;
  readonly dataset: string;
  readonly requestsPer10Seconds: number;
}

export interface OpenPortal extends ReadDeps {
  readonly client: PortalClient;
  readonly limits: PortalLimits;
  readonly signal: AbortSignal | undefined;
  readonly onRetry: (failure: RpcFailure) => void;
  /** Counts and logs a failure or a contradiction. */
  readonly note: (trouble: Trouble) => void;
  /** Starts work again until it succeeds. With `range`, throws `ReadAbandoned` for it after so many attempts. */
  afresh<T>(work: () => Promise<T>, range?: RangeRead): Promise<T>;
  headOf(path: 'head' | 'finalized-head'): Promise<number | null>;
  /** The newest final block that the Portal serves; asks for it only if it is not known to be at least `number`. */
  finalizedAtLeast(number: number): Promise<number>;
  counters(): SourceCounters;
}

interface RangeRead {
  readonly from: number;
  readonly to: number;
  /** Absent: no end. */
  readonly attemptsMax: number | undefined;
}

export function openPortal(config: PortalAt, deps: PortalSourceDeps): OpenPortal {
  const limits = { ...PORTAL_LIMITS, ...deps.limits };
  const { signal, log } = deps;
  const { portalUrl, dataset } = config;
  const perSecond = perSecondOf(config.requestsPer10Seconds);
  const client = createPortalClient(`${portalUrl.replace(/\/$/, '')}/datasets/${dataset}`, {
    limits,
    rate: deps.rateLimitOf?.(portalUrl, perSecond) ?? createRateLimit(perSecond),
    signal,
    onExchange: deps.onExchange,
  });
  const counters = { retries: 0, contradictions: 0, contradictedAtMs: 0 };
  const note = (trouble: Trouble): void => {
    counters.retries++;
    if (trouble instanceof ProviderContradiction) {
      counters.contradictions++;
      counters.contradictedAtMs = Date.now();
      log.warn({ provider: client.name, kind: trouble.kind }, `provider contradiction: ${trouble.message}`);
    } else
      log.debug({ provider: client.name, kind: trouble.kind }, `Portal request failed: ${trouble.message}`);
    deps.onRetry?.(trouble, client.name);
  };
  const headOf: OpenPortal['headOf'] = async (path) => {
    const answer = await client.get(path, { waitedMs: 0 });
    if (answer === null) return null;
    const number = naturalOf(record(answer, path)['number'], path);
    if (path === 'finalized-head') client.sawFinalized(number);
    return number;
  };
  return {
    ...{ client, limits, signal, note, headOf },
    onRetry: note,
    afresh: (work, range) =>
      retry(work, {
        signal,
        pauseMs(error, failures) {
          if (!(error instanceof RpcFailure || error instanceof ProviderContradiction)) return null;
          note(error);
          if (range !== undefined && failures >= (range.attemptsMax ?? Number.POSITIVE_INFINITY))
            throw new ReadAbandoned(range.from, range.to, error);
          const { backOffFirstMs: firstMs, backOffMaxMs: maxMs } = limits;
          return (
            (error instanceof RpcFailure ? error.retryAfterMs : null) ??
            backOffMs(failures, { firstMs, maxMs })
          );
        },
      }),
    async finalizedAtLeast(number) {
      if (client.finalizedSeen() < number) await headOf('finalized-head');
      return client.finalizedSeen();
    },
    counters: () => ({ ...counters, calls: client.calls() }),
  };
}

/** Evenly spaced, one request fewer: then no ten seconds hold more than permitted, wherever they begin. */
function perSecondOf(per10Seconds: number): number {
  return Math.max(1, per10Seconds - 1) / 10;
}
