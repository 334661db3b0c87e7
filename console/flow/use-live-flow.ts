import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem, getJson, type QueryValues, session } from '../api.ts';
import { announce } from '../components/states.tsx';
import { useStore } from '../store.ts';
import { poll } from '../use-answer.ts';
import type { Flows, Settlement } from '../wire.ts';
import { firstCopy, forwardCopy, type LiveCopy } from './live-copy.ts';

/** 20 requests a minute, of the 600 that an anonymous caller may send. Base makes a block every two seconds. */
const POLL_MS = 3_000;
/** Of new rows in one answer. */
const PAGE_ROWS = 100;
/** A copy that is further behind begins again with the newest page. */
const PAGES_MAX = 3;
/** Screen readers are notified of new rows at most this often, and only of their number. */
const ANNOUNCE_EVERY_MS = 15_000;

export interface LiveFlow {
  readonly rows: readonly Settlement[] | null;
  readonly meta: Flows['meta'] | null;
  readonly problem: ApiProblem | null;
  /** Whether the page asks for new rows: not while it is paused, nor after a problem that asking again does not solve. */
  readonly isAsking: boolean;
  isNew(key: string): boolean;
  reload(): void;
}

interface LiveFlowOptions {
  /** Rows to show. */
  readonly most: number;
  readonly isPaused?: boolean;
}

/** The newest settlements. New ones are read with the `after` cursor while the tab is visible. */
export function useLiveFlow({ most, isPaused = false }: LiveFlowOptions): LiveFlow {
  const { key } = useStore(session);
  const [copy, setCopy] = useState<LiveCopy | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [turn, setTurn] = useState(0);
  const held = useRef<LiveCopy | null>(null);
  const pending = useRef({ count: 0, sinceMs: 0 });
  const isStopped = problem !== null && problem.retryAfterSeconds === null;
  const isAsking = !isPaused && !isStopped;
  // `key` and `turn` are only triggers.
  useEffect(() => {
    if (!isAsking && (held.current !== null || isStopped)) return;
    return poll<LiveCopy>({
      ask: (signal) => nextCopy(held.current, { most, signal }),
      refreshMs: isAsking ? POLL_MS : undefined,
      onAnswer: (next) => {
        held.current = next;
        setCopy(next);
        setProblem(null);
        announceSometimes(pending.current, next.added.size);
      },
      onProblem: setProblem,
    });
  }, [key, turn, most, isAsking]);
  return {
    rows: copy?.rows ?? null,
    meta: copy?.meta ?? null,
    problem,
    isAsking,
    isNew: (settlement) => copy?.added.has(settlement) ?? false,
    reload: () => {
      setProblem(null);
      setTurn((before) => before + 1);
    },
  };
}

interface Reading {
  readonly most: number;
  readonly signal: AbortSignal;
}

async function nextCopy(held: LiveCopy | null, { most, signal }: Reading): Promise<LiveCopy> {
  const ask = (query: QueryValues): Promise<Flows> => getJson<Flows>('/flows', { query, signal });
  const newest = async (): Promise<LiveCopy> => firstCopy(await ask({ limit: most }));
  if (held === null || held.after === null) return newest();
  try {
    let copy = held;
    const added = new Set<string>();
    for (let page = 0; page < PAGES_MAX; page++) {
      copy = forwardCopy(copy, await ask({ after: copy.after, limit: PAGE_ROWS }), most);
      for (const key of copy.added) added.add(key);
      if (!copy.hasMore) return { ...copy, added };
    }
    return newest();
  } catch (error) {
    // The changes of 29 days are kept: a tab that slept for longer begins again.
    if (error instanceof ApiProblem && error.body.code === 'cursor_expired') return newest();
    throw error;
  }
}

function announceSometimes(pending: { count: number; sinceMs: number }, added: number): void {
  pending.count += added;
  const nowMs = Date.now();
  if (pending.count === 0 || nowMs - pending.sinceMs < ANNOUNCE_EVERY_MS) return;
  announce(pending.count === 1 ? 'One new settlement' : `${pending.count} new settlements`);
  pending.count = 0;
  pending.sinceMs = nowMs;
}
