import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Guard } from '../../clickhouse/engine/engine.ts';
import type { RateLimitOf } from '../chain/rpc/limits.ts';
import type { JobQueue } from './job-queue.ts';
import type { Lead, LeadDeps } from './lead.ts';

/**
 * How the ingest processes over one database divide the work. Two adapters: `engine.ts` for a single process, `redis/` for any
 * number of them. Which one is used changes who does a piece of work, never how it is done (ingest/worker.ts).
 *
 *   await coordination.lead('eip155:8453', deps, ({ writer, versions, signal }) => followChain(writer, versions, signal));
 */
export interface Coordination {
  /**
   * Whether other processes index at the same time. Then each grades by the catalogue that one of them publishes; a process that
   * indexes alone grades by its own.
   */
  readonly isShared: boolean;
  /**
   * Waits for the lead of a scope, works while it lasts, and waits again; until the signal aborts. Rejects with what `work`
   * throws, unless the lead was lost.
   */
  lead(scope: string, deps: LeadContext, work: (held: Held) => Promise<void>): Promise<void>;
  /** The jobs of a name, of letters, digits, `-` and `_`; the same object for the same name. */
  queueOf(name: string): JobQueue;
  /** Requests to one URL are counted together, over all sources and all processes. */
  readonly rateLimitOf: RateLimitOf;
  close(): Promise<void>;
}

export type LeadContext = Pick<LeadDeps, 'writer' | 'log' | 'signal'>;

/** What the leader of a scope works with. `guard` is null over an engine that no other process can reach: nothing needs fencing there. */
export type Held = Omit<Lead, 'guard'> & { readonly guard: Guard | null };

const RANDOM_CHARS = 8;

/** A name for this process and this start of it, by which an operator can find it too. */
export function ownerName(): string {
  return `${hostname()}:${process.pid}:${randomUUID().slice(0, RANDOM_CHARS)}`;
}
