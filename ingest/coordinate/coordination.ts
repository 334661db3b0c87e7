import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Guard } from '../../clickhouse/engine/engine.ts';
import type { RateLimitOf } from '../chain/rpc/limits.ts';
import type { JobQueue } from './job-queue.ts';
import type { Lead, LeadDeps } from './lead.ts';

/**
 * How ingest processes over one database divide the work. Two adapters: `engine.ts` for a single process, `redis/` for any number. The
 * adapter decides which process does the work, never how it is done (ingest/worker.ts).
 *
 *   await coordination.lead('eip155:8453', deps, ({ writer, versions, signal }) => followChain(writer, versions, signal));
 */
export interface Coordination {
  /**
   * Whether other processes index at the same time. Each then grades by the catalogue that one of them publishes; a single process
   * grades by its own.
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

/** What the leader of a scope gets. `guard` is null over an engine that no other process can reach, which needs no fencing. */
export type Held = Omit<Lead, 'guard'> & { readonly guard: Guard | null };

const RANDOM_CHARS = 8;

/** A name for this start of this process, which also helps operators to find it. */
export function ownerName(): string {
  return `${hostname()}:${process.pid}:${randomUUID().slice(0, RANDOM_CHARS)}`;
}
