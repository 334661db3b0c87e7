import { useEffect, useRef, useState } from 'preact/hooks';
import { announce } from '../announce.tsx';
import type { ApiProblem } from '../problem.ts';
import { useAnswer } from '../use-answer.ts';
import { settlementKey } from './settlement-table.tsx';
import type { FlowsAnswer, Meta, NamedSettlement } from './wire.ts';

/** A quarter of a hundredth of the anonymous limit of 600 requests a minute; blocks come every one to two seconds. */
const POLL_MS = 3_000;
/** Screen readers hear of new rows at most this often, and only how many they are. */
const ANNOUNCE_EVERY_MS = 15_000;
export const FLOWS_SHOWN = 50;

export interface LiveFlows {
  readonly rows: readonly NamedSettlement[] | null;
  readonly meta: Meta | null;
  readonly problem: ApiProblem | null;
  readonly isLive: boolean;
  isNew(key: string): boolean;
  reload(): void;
}

/**
 * The newest settlements, again and again while the tab is seen. The browser revalidates by ETag, so that an unchanged page costs
 * no transfer. A refused request stops it until somebody tries again or the key changes; a page that is behind waits as it is told.
 */
export function useLiveFlows(isPaused: boolean): LiveFlows {
  const [isStopped, stop] = useState(false);
  const isLive = !isPaused && !isStopped;
  const { answer, problem, reload } = useAnswer<FlowsAnswer>('/flows', {
    query: { limit: FLOWS_SHOWN },
    ...(isLive ? { refreshMs: POLL_MS } : {}),
  });
  useEffect(() => stop(problem !== null && problem.retryAfterSeconds === null), [problem]);
  const isNew = useNewKeys(answer?.flows ?? null);
  return { rows: answer?.flows ?? null, meta: answer?.meta ?? null, problem, isLive, isNew, reload };
}

/** Which rows came with the newest answer: none of the first one. */
function useNewKeys(rows: readonly NamedSettlement[] | null): (key: string) => boolean {
  const known = useRef<ReadonlySet<string> | null>(null);
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const unsaid = useRef({ count: 0, sinceMs: 0 });
  useEffect(() => {
    if (rows === null) return;
    const keys = rows.map(settlementKey);
    const before = known.current;
    known.current = new Set(keys);
    if (before === null) return;
    const added = keys.filter((key) => !before.has(key));
    setFresh(new Set(added));
    sayAtTimes(unsaid.current, added.length);
  }, [rows]);
  return (key) => fresh.has(key);
}

function sayAtTimes(unsaid: { count: number; sinceMs: number }, added: number): void {
  unsaid.count += added;
  const nowMs = Date.now();
  if (unsaid.count === 0 || nowMs - unsaid.sinceMs < ANNOUNCE_EVERY_MS) return;
  announce(unsaid.count === 1 ? 'One new settlement' : `${unsaid.count} new settlements`);
  unsaid.count = 0;
  unsaid.sinceMs = nowMs;
}
