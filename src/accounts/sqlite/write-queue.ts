import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Log } from '../../../core/log.ts';
import { StoreUnavailable } from '../store.ts';
import { errorOf } from './database.ts';
import type { FromWriteThread, ToWriteThread, WriteOutcome, WriteThreadData } from './write-thread.ts';
import type { WriteAnswer, WriteArgument, WriteName, WriteRequest } from './writes.ts';

/** What the calling thread sees of the thread that writes. */
export interface WriteQueue {
  /** Resolves when the change is on disk. Rejects with `StoreUnavailable` when it may not be, so that it must be asked again. */
  write<Name extends WriteName>(name: Name, argument: WriteArgument<Name>): Promise<WriteAnswer<Name>>;
  /** Whether the thread does nothing, and its last batch could be written. */
  isIdle(): boolean;
  /** Finishes the requests so far, then ends the thread. */
  close(): Promise<void>;
}

/** Bounds a transaction: about 20 ms of work, during which another process waits. */
const BATCH_MAX = 500;
/** Some seconds of work on a slow disk. Later requests are refused at once rather than answered too late. */
const WAITING_MAX = 20_000;
/** Longer than the thread waits for the locks of other processes: the disk itself hangs. */
const STALL_MS = 30_000;

interface Pending {
  readonly request: WriteRequest;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface Flight {
  readonly requests: readonly Pending[];
  readonly stalls: NodeJS.Timeout;
  /** Its callers were refused; only the thread has not answered. */
  stalled: boolean;
}

interface WriteQueueOptions {
  readonly path: string;
  readonly log?: Log | undefined;
  /** Tests start one that dies or hangs. */
  readonly startThread?: (data: WriteThreadData) => Worker;
  readonly stallMs?: number;
}

export function createWriteQueue(options: WriteQueueOptions): WriteQueue {
  const sender = new BatchSender(options);
  let closed: Promise<void> | undefined;
  return {
    write: (name, argument) =>
      new Promise((resolve, reject) => {
        if (closed !== undefined) reject(new StoreUnavailable(new Error('the control store is closed')));
        // The answer to a request is that of the method it names.
        else
          sender.add({ request: { name, argument }, resolve: resolve as (answer: unknown) => void, reject });
      }),
    isIdle: () => closed === undefined && sender.isIdle,
    close: () => {
      closed ??= sender.end();
      return closed;
    },
  };
}

/**
 * The thread has one batch at a time; the requests that arrive during it are the next one. So a lone request waits for nothing, and a
 * thousand at once cost a few fsyncs.
 */
class BatchSender {
  private readonly waiting: Pending[] = [];
  private readonly options: WriteQueueOptions;
  private flight: Flight | undefined;
  private worker: Worker | undefined;
  private working = true;
  private onIdle: (() => void) | undefined;

  constructor(options: WriteQueueOptions) {
    this.options = options;
  }

  get isIdle(): boolean {
    return this.flight === undefined && this.working;
  }

  add(pending: Pending): void {
    if (this.flight?.stalled === true || this.waiting.length >= WAITING_MAX) {
      pending.reject(new StoreUnavailable(new Error('the disk is behind')));
      return;
    }
    this.waiting.push(pending);
    this.send();
  }

  async end(): Promise<void> {
    if (this.flight !== undefined && !this.flight.stalled) {
      await new Promise<void>((resolve) => {
        this.onIdle = resolve;
      });
    }
    const { worker } = this;
    if (worker === undefined) return;
    this.worker = undefined;
    if (this.flight?.stalled === true) {
      // It may wait for the disk without end, so close does not wait for it.
      void worker.terminate();
      return;
    }
    worker.ref();
    post(worker, { close: true });
    await new Promise((resolve) => worker.once('exit', resolve));
  }

  private send(): void {
    if (this.flight !== undefined) return;
    if (this.waiting.length === 0) {
      // An idle store keeps no process alive.
      this.worker?.unref();
      this.onIdle?.();
      return;
    }
    this.worker ??= this.start();
    const { worker } = this;
    const requests = this.waiting.splice(0, BATCH_MAX);
    const stalls = setTimeout(() => this.stall(), this.options.stallMs ?? STALL_MS).unref();
    this.flight = { requests, stalls, stalled: false };
    worker.ref();
    post(worker, { requests: requests.map(({ request }) => request) });
  }

  private start(): Worker {
    const worker = (this.options.startThread ?? startThread)({ path: this.options.path });
    let reason: unknown;
    worker.on('message', (outcomes: FromWriteThread) => this.land(outcomes));
    worker.on('error', (error) => {
      reason = error;
    });
    worker.once('exit', () => this.lose(worker, reason));
    return worker;
  }

  /** Sends the next batch before it answers the callers of this one. */
  private land(outcomes: readonly WriteOutcome[]): void {
    const { flight } = this;
    if (flight === undefined) return;
    clearTimeout(flight.stalls);
    this.flight = undefined;
    this.send();
    this.logChange(outcomes);
    if (flight.stalled) return;
    for (const [place, { resolve, reject }] of flight.requests.entries()) {
      const outcome = outcomes[place];
      if (outcome !== undefined && 'answer' in outcome) resolve(outcome.answer);
      else reject(outcome ? errorOf(outcome.failure) : new StoreUnavailable(new Error('no answer')));
    }
  }

  /** Whether the batch was committed is not known, so its callers ask again. The next request starts another thread. */
  private lose(worker: Worker, reason: unknown): void {
    if (this.worker !== worker) return;
    this.worker = undefined;
    const { flight } = this;
    this.flight = undefined;
    if (flight !== undefined) {
      clearTimeout(flight.stalls);
      this.options.log?.error({ err: reason }, 'the thread that writes the control store ended');
      refuse(flight.requests, reason ?? new Error('the thread that writes ended'));
    }
    this.send();
  }

  private stall(): void {
    if (this.flight === undefined) return;
    this.flight.stalled = true;
    this.options.log?.error('the control store has not answered for long: its disk hangs');
    const reason = new Error('the disk does not answer');
    refuse([...this.flight.requests, ...this.waiting.splice(0)], reason);
    this.onIdle?.();
  }

  /** Once when writes begin to fail, once when they succeed again. */
  private logChange(outcomes: readonly WriteOutcome[]): void {
    const first = outcomes[0];
    if (first === undefined) return;
    const failure = 'failure' in first ? first.failure : undefined;
    const working = failure?.kind !== 'unavailable' && failure?.kind !== 'newer';
    if (working === this.working) return;
    this.working = working;
    if (working) this.options.log?.info('the control store can be written again');
    else this.options.log?.error({ reason: failure?.message }, 'the control store cannot be written');
  }
}

function refuse(requests: readonly Pending[], reason: unknown): void {
  for (const { reject } of requests) reject(new StoreUnavailable(reason));
}

function startThread(workerData: WriteThreadData): Worker {
  const file = extname(import.meta.url) === '.ts' ? './write-thread-from-source.mjs' : './write-thread.js';
  return new Worker(new URL(file, import.meta.url), { workerData });
}

function post(worker: Worker, message: ToWriteThread): void {
  worker.postMessage(message);
}
