import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Log } from '../../core/log.ts';
import type { Dialect } from './dialects.ts';

/**
 * The thread that translates, seen from the service. The grammars are not ours: a text of a few bytes can make one loop or use all
 * memory. So a text has a time limit, the thread has a memory limit, one text is in it at a time, and a thread that fails is
 * replaced at the next text.
 */
export interface Translator {
  /** The dialects that the text may be of, the most probable first. */
  likelyFirst(text: string): Promise<Guess>;
  /** Reads the text as one dialect. */
  translate(text: string, dialect: Dialect): Promise<Outcome>;
  close(): Promise<void>;
}

/** `ended`: the text took too long or ended the thread. `busy`: too many texts wait. */
interface Failed {
  readonly failed: 'ended' | 'busy';
}

/** In ClickHouse's words; null where it cannot be read or written. */
export type Outcome = { readonly sql: string | null } | Failed;
export type Guess = { readonly dialects: readonly Dialect[] } | Failed;

export interface ToTranslateThread {
  readonly id: number;
  readonly text: string;
  /** Null asks which it may be. */
  readonly dialect: Dialect | null;
}

export interface FromTranslateThread {
  readonly id: number | 'ready';
  readonly sql: string | null;
  /** The answer to a text without a dialect. */
  readonly dialects?: readonly Dialect[];
}

export interface TranslatorOptions {
  readonly log: Log;
  /** For tests. */
  readonly startThread?: () => Worker;
  readonly textMaxMs?: number;
  readonly startMaxMs?: number;
}

/** A query of the usual length takes 2 to 30 ms, and several times that while the engine has the processor. */
const TEXT_MAX_MS = 500;
/** Starting loads the grammars: some 200 ms, and more where the thread compiles the sources first. */
const START_MAX_MS = 15_000;
/** Waiting texts. Later ones get no suggestion. */
const WAITING_MAX = 8;
/** The four grammars and their trees take 25 MB. */
const HEAP_MAX_MB = 96;

interface Waiting {
  readonly text: string;
  readonly dialect: Dialect | null;
  resolve(answer: Answer): void;
}

type Answer = Pick<FromTranslateThread, 'sql' | 'dialects'> | Failed;

export function createTranslator(options: TranslatorOptions): Translator {
  return new ThreadTranslator(options);
}

class ThreadTranslator implements Translator {
  private readonly options: TranslatorOptions;
  private readonly waiting: Waiting[] = [];
  private worker: Worker | undefined;
  private isReady = false;
  private nextId = 1;
  private flight: { readonly id: number; readonly asked: Waiting } | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(options: TranslatorOptions) {
    this.options = options;
  }

  translate(text: string, dialect: Dialect): Promise<Outcome> {
    return this.ask(text, dialect);
  }

  async likelyFirst(text: string): Promise<Guess> {
    const answer = await this.ask(text, null);
    return 'failed' in answer ? answer : { dialects: answer.dialects ?? [] };
  }

  private ask(text: string, dialect: Dialect | null): Promise<Answer> {
    if (this.waiting.length >= WAITING_MAX) return Promise.resolve({ failed: 'busy' });
    return new Promise((resolve) => {
      this.waiting.push({ text, dialect, resolve });
      this.next();
    });
  }

  async close(): Promise<void> {
    for (const { resolve } of this.waiting.splice(0)) resolve({ failed: 'busy' });
    await this.end('closed');
  }

  private next(): void {
    if (this.flight !== undefined || this.waiting.length === 0) return;
    const worker = this.worker ?? this.start();
    if (!this.isReady) return;
    const asked = this.waiting.shift();
    if (asked === undefined) return;
    const id = this.nextId;
    this.nextId += 1;
    this.flight = { id, asked };
    this.limit(this.options.textMaxMs ?? TEXT_MAX_MS);
    worker.postMessage({ id, text: asked.text, dialect: asked.dialect } satisfies ToTranslateThread);
  }

  private start(): Worker {
    const worker = (this.options.startThread ?? startThread)();
    this.worker = worker;
    this.isReady = false;
    // It must not keep the process alive.
    worker.unref();
    worker.on('message', (message: FromTranslateThread) => this.take(worker, message));
    worker.on('error', (error) => this.lose(worker, error));
    worker.on('exit', (code) => this.lose(worker, new Error(`it ended with code ${code}`)));
    this.limit(this.options.startMaxMs ?? START_MAX_MS);
    return worker;
  }

  private limit(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.end('it took too long'), ms);
  }

  private take(worker: Worker, { id, ...answer }: FromTranslateThread): void {
    if (worker !== this.worker) return;
    if (id === 'ready') this.isReady = true;
    else if (id === this.flight?.id) {
      const { asked } = this.flight;
      this.flight = undefined;
      asked.resolve(answer);
    }
    clearTimeout(this.timer);
    this.next();
  }

  private async end(reason: string): Promise<void> {
    const { worker } = this;
    if (worker === undefined) return;
    this.lose(worker, new Error(reason));
    await worker.terminate();
  }

  /** The text in it gets no answer; the next text starts another thread. */
  private lose(worker: Worker, reason: Error): void {
    if (worker !== this.worker) return;
    this.worker = undefined;
    clearTimeout(this.timer);
    const { flight } = this;
    this.flight = undefined;
    if (flight === undefined) {
      // It did not start, so the waiting texts would wait for ever.
      if (!this.isReady) for (const { resolve } of this.waiting.splice(0)) resolve({ failed: 'busy' });
    } else {
      this.options.log.info({ reason: reason.message, chars: flight.asked.text.length }, TEXT_ENDED_IT);
      flight.asked.resolve({ failed: 'ended' });
    }
    this.next();
  }
}

const TEXT_ENDED_IT =
  'a query in another dialect could not be parsed within its limits; the thread is replaced';

function startThread(): Worker {
  const fromSource = extname(import.meta.url) === '.ts';
  const file = fromSource ? './translate-thread-from-source.mjs' : './translate-thread.js';
  return new Worker(new URL(file, import.meta.url), {
    resourceLimits: {
      maxOldGenerationSizeMb: HEAP_MAX_MB,
      maxYoungGenerationSizeMb: HEAP_MAX_MB / 4,
      stackSizeMb: 2,
    },
    env: {},
    stdin: false,
  });
}
