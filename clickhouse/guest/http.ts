import { pauseUntil, retry } from '../../core/process/retry.ts';
import { publicDatabaseOf, viewedDatabaseOf } from '../engine/databases.ts';
import { type EngineAccess, EngineError, type GuestResult, type QueryFigures } from '../engine/engine.ts';
import { type CallSignals, engineErrorOf, isConnectionRefused, problemOf } from '../engine/error.ts';
import {
  type AnswerHead,
  createEngineHttp,
  type HttpStatement,
  isSuccess,
  refusalOf,
  type StreamedAnswer,
  WHOLE_ANSWER,
  type WholeAnswer,
} from '../engine/http.ts';
import { QUERIES_AT_ONCE_MAX } from './settings.ts';

/**
 * The guest's statements over plain HTTP: the client library hides the figures of a failed query and changes parameter values.
 * Nothing here affects the guest's rights (settings.ts).
 */
export interface GuestHttp {
  /** The whole answer, for statements with small answers. Rejects with `EngineError`. */
  ask(statement: GuestHttpStatement, signals: CallSignals): Promise<Buffer>;
  /** Resolves with the head of the answer once the statement has ended. Rejects with `EngineError`. */
  send(statement: GuestHttpStatement, signals: CallSignals): Promise<GuestResult>;
  close(): void;
}

export interface GuestHttpStatement extends HttpStatement {
  readonly name: string;
  /** Values of the text's placeholders, in the escapes of TabSeparated. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** The embedded engine restarts about 400 ms after a crash, or some seconds on a busy machine. */
const RETRY_MAX_MS = 5_000;
const RETRY_AFTER_MS = 200;
/** Largest answer that is buffered in memory: the maximum for a caller. Anything beyond goes to a file. */
const HELD_IN_MEMORY_BYTES = 64 * 1024 * 1024;

/** For a statement whose figures and failures must be known before the first byte of its answer. */
export function wholeAnswer(heldInMemory: boolean): Readonly<Record<string, number>> {
  return heldInMemory ? { ...WHOLE_ANSWER, buffer_size: HELD_IN_MEMORY_BYTES } : WHOLE_ANSWER;
}

/** NOT_IMPLEMENTED: the engine's error for a correlated subquery over a distributed table. */
const NOT_OVER_NODES = 48;

export function createGuestHttp(access: EngineAccess): GuestHttp {
  const http = createEngineHttp(access.url, access.guest, QUERIES_AT_ONCE_MAX, access.headers);
  return {
    async ask(statement, signals) {
      const { answer } = await overNodes(access, statement, signals, http.ask);
      return answer.bytes;
    },
    async send(statement, signals) {
      const { answer, figures } = await overNodes(access, statement, signals, http.send);
      const [mediaType, contentCoding] = ['content-type', 'content-encoding'].map((name) =>
        textOf(answer.headers[name]),
      );
      return {
        figures,
        body: answer.body,
        ...(mediaType === undefined ? {} : { mediaType }),
        ...(contentCoding === undefined ? {} : { contentCoding }),
      };
    },
    close: http.close,
  };
}

type Exchange<Answer> = (statement: HttpStatement, signal: AbortSignal) => Promise<Answer>;

interface Told<Answer> {
  readonly answer: Answer;
  readonly figures: QueryFigures;
}

async function overNodes<Answer extends WholeAnswer | StreamedAnswer>(
  { database, cluster }: EngineAccess,
  statement: GuestHttpStatement,
  signals: CallSignals,
  exchange: Exchange<Answer>,
): Promise<Told<Answer>> {
  try {
    return await exchanged(publicDatabaseOf(database), statement, signals, exchange);
  } catch (error) {
    const isOfNodes = error instanceof EngineError && error.engineCode === NOT_OVER_NODES;
    if (!isOfNodes || cluster === undefined) throw error;
    // Refused during planning, so nothing has run. Through views the engine reads the same tables whole first.
    return exchanged(viewedDatabaseOf(database), statement, signals, exchange);
  }
}

async function exchanged<Answer extends WholeAnswer | StreamedAnswer>(
  publicDatabase: string,
  { name, text, words, parameters, ...coding }: GuestHttpStatement,
  signals: CallSignals,
  exchange: Exchange<Answer>,
): Promise<Told<Answer>> {
  const { either } = signals;
  const statement = {
    text,
    words: { database: publicDatabase, ...words, ...asWords(parameters) },
    ...coding,
  };
  try {
    either.throwIfAborted();
    const answer = await retryRefused(() => exchange(statement, either), either);
    const figures = figuresOf(answer.headers['x-clickhouse-summary']);
    if (isSuccess(answer) && figures !== null) return { answer, figures };
    throw refusedWith(await refusalOf(answer, either), { answer, figures, name, signals });
  } catch (error) {
    throw engineErrorOf(error, name, signals);
  }
}

function asWords(parameters: GuestHttpStatement['parameters']): HttpStatement['words'] {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [`param_${name}`, value]));
}

/**
 * Retries for a moment while the engine restarts, if it cannot have seen the statement. Never otherwise: a text that crashes the
 * engine must not crash it twice.
 */
function retryRefused<Answer>(send: () => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  const deadline = performance.now() + RETRY_MAX_MS;
  return retry(send, {
    signal,
    pauseMs: (error) => (isConnectionRefused(error) ? pauseUntil(deadline, RETRY_AFTER_MS) : null),
  });
}

function refusedWith(
  said: Error,
  of: {
    readonly answer: AnswerHead;
    readonly figures: QueryFigures | null;
    readonly name: string;
    readonly signals: CallSignals;
  },
): EngineError {
  const known = engineErrorOf(said, of.name, of.signals);
  // Errors from the engine's libraries have another wording, and the code only in a header.
  const told = known.engineCode === null ? numberOf(of.answer.headers['x-clickhouse-exception-code']) : null;
  const problem = told === null ? known.problem : problemOf(told, said.message);
  return new EngineError(problem, of.name, known.engineCode ?? told, said, of.figures);
}

function figuresOf(summary: string | string[] | undefined): QueryFigures | null {
  if (typeof summary !== 'string') return null;
  const said = JSON.parse(summary) as Record<string, string | undefined>; // the engine's header, numbers as texts
  const figure = (name: string): number => Number(said[name] ?? 0);
  return {
    readRows: figure('read_rows'),
    readBytes: figure('read_bytes'),
    resultRows: figure('result_rows'),
    resultBytes: figure('result_bytes'),
    elapsedMs: figure('elapsed_ns') / 1e6,
    memoryBytes: figure('memory_usage'),
  };
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined;
}

function numberOf(code: string | string[] | undefined): number | null {
  return typeof code === 'string' && /^\d+$/.test(code) ? Number(code) : null;
}
