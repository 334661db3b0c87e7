import type { Log } from '../../core/log.ts';
import {
  type BlockRef,
  type ChainTip,
  type RangeReader,
  ReadAbandoned,
  type ReadOptions,
} from './block-source.ts';
import type { OpenPortal } from './portal/open.ts';
import { ProviderContradiction, RpcFailure } from './rpc/failure.ts';

/**
 * A chain of any family over two sources: final blocks from a Portal, everything else over JSON-RPC. The Portal is never needed: where it is
 * silent, refuses or contradicts itself or the node, the range is read over JSON-RPC, and the Portal rests before it is asked again. The last
 * block of every range that it gives is compared with the node's, so that a Portal of another chain, or of blocks that were undone, is found
 * out.
 */
export interface HistorySourceDeps<Filter, Batch, Source> {
  readonly portal: HistoryPortal<Filter, Batch>;
  readonly rpc: Source;
  readonly log: Log;
  readonly nowMs?: () => number;
  readonly rests?: Partial<PortalRests>;
}

export interface HistoryPortal<Filter, Batch>
  extends RangeReader<Filter, Batch>,
    Pick<OpenPortal, 'finalizedAtLeast' | 'counters'> {}

export interface HistoryBatch {
  readonly to: number;
  readonly blocks: readonly BlockRef[];
  readonly readFrom?: 'portal' | 'rpc';
}

export interface PortalRests {
  /** After a failure; doubled with each one until the Portal gives a range again. */
  readonly firstMs: number;
  readonly maxMs: number;
}

const RESTS: PortalRests = { firstMs: 30_000, maxMs: 10 * 60_000 };
/** Then JSON-RPC reads the range: a second attempt survives a lost connection. */
const PORTAL_ATTEMPTS_MAX = 2;

export function createHistorySource<
  Filter,
  Batch extends HistoryBatch,
  Source extends ChainTip & RangeReader<Filter, Batch>,
>(deps: HistorySourceDeps<Filter, Batch, Source>): Source {
  const { portal, rpc, log, nowMs = () => performance.now() } = deps;
  const outage = createOutage({ ...RESTS, ...deps.rests }, nowMs, log);
  /** Null where the Portal does not have the range, or not now. */
  const readPortal = async (from: number, to: number, filter: Filter): Promise<Batch | null> => {
    if (outage.isResting()) return null;
    const startedMs = nowMs();
    try {
      if ((await portal.finalizedAtLeast(to)) < to) return null;
      const batch = await portal.read(from, to, filter, { freshStartsMax: PORTAL_ATTEMPTS_MAX });
      await compareLast(batch, rpc);
      outage.end();
      return { ...batch, readFrom: 'portal' };
    } catch (error) {
      if (!isTrouble(error)) throw error;
      outage.begin(error, startedMs);
      return null;
    }
  };
  return {
    ...rpc,
    async read(from: number, to: number, filter: Filter, options?: ReadOptions): Promise<Batch> {
      // Near the tip every block may be undone while it is read.
      const isNearTip = options?.everyHeader === true;
      return (
        (isNearTip ? null : await readPortal(from, to, filter)) ?? {
          ...(await rpc.read(from, to, filter, options)),
          readFrom: 'rpc',
        }
      );
    },
    counters() {
      const [one, other] = [rpc.counters(), portal.counters()];
      return {
        calls: one.calls + other.calls,
        retries: one.retries + other.retries,
        contradictions: one.contradictions + other.contradictions,
        contradictedAtMs: Math.max(one.contradictedAtMs, other.contradictedAtMs),
      };
    },
  };
}

/** The blocks of a range are linked, so that its last block stands for all of them. */
async function compareLast({ to, blocks }: HistoryBatch, rpc: ChainTip): Promise<void> {
  const [given, standing] = [blocks.at(-1), await rpc.blockAt(to)];
  if (given?.number !== to || standing?.hash !== given.hash)
    throw new ProviderContradiction('wrong-fork', `the Portal has another block ${to} than the node`);
}

function isTrouble(error: unknown): error is Error {
  return (
    error instanceof ReadAbandoned || error instanceof RpcFailure || error instanceof ProviderContradiction
  );
}

/** Whether the Portal is left alone, and until when. Says so once, and once when it is over. */
function createOutage({ firstMs, maxMs }: PortalRests, nowMs: () => number, log: Log) {
  let restMs = firstMs;
  let untilMs = Number.NEGATIVE_INFINITY;
  let begunMs = Number.NEGATIVE_INFINITY;
  let isOut = false;
  return {
    isResting: (): boolean => nowMs() < untilMs,
    /** Reads that run at once fail together: those that started before the rest began do not make it longer. */
    begin(error: Error, startedMs: number): void {
      if (startedMs < begunMs) return;
      const cause = error instanceof ReadAbandoned ? error.cause : error;
      const demandedMs = cause instanceof RpcFailure ? (cause.retryAfterMs ?? 0) : 0;
      begunMs = nowMs();
      untilMs = begunMs + Math.max(restMs, Math.min(demandedMs, maxMs));
      if (!isOut) log.warn({ err: cause }, 'the Portal gives no blocks now: history is read over JSON-RPC');
      else log.debug({ err: cause }, 'the Portal still gives no blocks');
      isOut = true;
      restMs = Math.min(maxMs, restMs * 2);
    },
    end(): void {
      if (isOut) log.info('the Portal gives blocks again');
      isOut = false;
      restMs = firstMs;
    },
  };
}
