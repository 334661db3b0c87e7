import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Clock } from '../../core/clock.ts';
import { type ErrorCode, Failure, type FailureContext, fail } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { ReplyStore } from '../accounts/store.ts';
import { askStore } from '../accounts/store-failure.ts';
import type { Answer, StreamedAnswer } from '../operations/answer.ts';
import type { AnyOperation } from '../operations/define.ts';
import type { AccessDecision } from './access.ts';
import type { ChargeOnce } from './charge-units.ts';
import type { GateAnswer } from './gate.ts';

/**
 * Idempotency-Key on the credit lane: the same request with the same key is charged once, and answered with the same answer
 * while that is kept. Source:
 * draft-ietf-httpapi-idempotency-key-header.
 */

/** How long an answer is kept for its key. */
export const REPLY_KEPT_MS = 24 * 60 * 60_000;
/** The largest answer that is kept, in bytes of JSON; of a larger one, and of other formats, only that it was given. */
export const REPLY_KEPT_MAX_BYTES = 256 * 1024;
const IN_PROGRESS_RETRY_SECONDS = 5;

interface RepeatTools {
  readonly replies: ReplyStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** A call that may carry an Idempotency-Key. */
export interface Repetition {
  readonly operation: AnyOperation;
  readonly access: AccessDecision;
  readonly key: string | undefined;
  /** The parameters as they were sent. */
  readonly raw: Readonly<Record<string, unknown>>;
  readonly leaseMs: number;
}

interface RepeatableCall {
  /** Whose key it is. One key names one request, of whatever operation. */
  readonly scope: string;
  readonly key: string;
  /** SHA-256 (hex) of the operation and its parameters. */
  readonly requestDigest: string;
  /** Above the longest that the call may take: afterwards its process is presumed dead, and the call may be started again. */
  readonly leaseMs: number;
}

/** The stored reply of a call that was charged. */
type KeptReply =
  | { readonly kind: 'object'; readonly body: Record<string, unknown> }
  | {
      readonly kind: 'text';
      readonly mediaType: string;
      readonly headers: StreamedAnswer['headers'];
      readonly text: string;
    }
  | { readonly kind: 'failure'; readonly code: ErrorCode; readonly context: KeptContext }
  | { readonly kind: 'not_kept' };

type KeptContext = Pick<FailureContext, 'detail' | 'parameter' | 'query' | 'charged'>;

/** Names a request by the operation and all of its parameters, in whatever order they were sent. */
function digestOfCall(operation: string, raw: Readonly<Record<string, unknown>>): string {
  const sorted = Object.entries(raw).sort(([a], [b]) => Number(a > b) - Number(a < b));
  return createHash('sha256')
    .update(JSON.stringify([operation, sorted]))
    .digest('hex');
}

/**
 * Runs the call: as it is where it has no key, where its operation is not repeatable, and on other lanes than units; otherwise once
 * for its key.
 */
export async function runOnce(
  tools: RepeatTools,
  { operation, access, key, raw, leaseMs }: Repetition,
  run: (once: ChargeOnce | null) => Promise<GateAnswer>,
): Promise<GateAnswer> {
  if (operation.repeatable !== true || access.by !== 'units' || key === undefined) return run(null);
  const scope = access.organizationId;
  return runRepeatable(tools, { scope, key, requestDigest: digestOfCall(operation.id, raw), leaseMs }, run);
}

/**
 * Runs the call, or answers with what an earlier one was answered. Rejects with `request_in_progress` while another runs,
 * `idempotency_conflict` where the key was used for another request, `reply_not_kept` where its answer is gone. A call that
 * failed and cost nothing leaves its key free.
 */
async function runRepeatable(
  tools: RepeatTools,
  call: RepeatableCall,
  run: (once: ChargeOnce) => Promise<GateAnswer>,
): Promise<GateAnswer> {
  const { scope, key, requestDigest, leaseMs } = call;
  const nowMs = tools.clock.nowMs();
  const keepUntilMs = nowMs + REPLY_KEPT_MS;
  const begun = await askStore(
    tools.replies.begin({ scope, key, requestDigest, nowMs, leaseUntilMs: nowMs + leaseMs, keepUntilMs }),
  );
  switch (begun.outcome) {
    case 'begun':
      return answerAndKeep(tools, call, () => run(chargeOnce(tools, call, keepUntilMs)));
    case 'done':
      return replay(begun.reply);
    case 'running':
      throw fail('request_in_progress', {
        detail: 'A request with this Idempotency-Key is still running.',
        retryAfterSeconds: IN_PROGRESS_RETRY_SECONDS,
      });
    case 'conflict':
      throw fail('idempotency_conflict', {
        detail: 'This Idempotency-Key was sent with another request before.',
      });
  }
}

async function answerAndKeep(
  tools: RepeatTools,
  call: RepeatableCall,
  run: () => Promise<GateAnswer>,
): Promise<GateAnswer> {
  try {
    const given = await run();
    const { answer, kept } = await keepable(given.answer);
    await keep(tools, call, kept);
    return { ...given, answer };
  } catch (error) {
    await keep(tools, call, keptFailure(error));
    throw error;
  }
}

/** Before the first byte leaves: an answer that was kept can be lost on the way and asked for again. */
async function keepable(answer: Answer): Promise<{ readonly answer: Answer; readonly kept: KeptReply }> {
  if ('body' in answer) {
    const { body } = answer;
    const size = Buffer.byteLength(JSON.stringify(body));
    return { answer, kept: size > REPLY_KEPT_MAX_BYTES ? { kind: 'not_kept' } : { kind: 'object', body } };
  }
  if ('file' in answer) return { answer, kept: { kind: 'not_kept' } };
  const { stream } = answer;
  if (!stream.mediaType.startsWith('application/json')) return { answer, kept: { kind: 'not_kept' } };
  const { head, ended } = await readHead(stream.body);
  if (!ended) return { answer: { stream: resumed(stream, head) }, kept: { kind: 'not_kept' } };
  const { mediaType, headers } = stream;
  const text = Buffer.concat(head).toString('utf8');
  return { answer: textAnswer(mediaType, headers, text), kept: { kind: 'text', mediaType, headers, text } };
}

function textAnswer(mediaType: string, headers: StreamedAnswer['headers'], text: string): Answer {
  return { stream: { mediaType, headers, body: Readable.from([Buffer.from(text)]) } };
}

interface Head {
  readonly head: Buffer[];
  readonly ended: boolean;
}

/** Reads until the end, or until there is more than may be kept. Rejects, and the body is destroyed, when it fails. */
function readHead(body: Readable): Promise<Head> {
  return new Promise((resolve, reject) => {
    // Also for an error that comes after the last look at it: the next reader of the stream gets it.
    body.on('error', () => undefined);
    if (body.destroyed) return reject(new Error('an answer was destroyed before it was read'));
    const head: Buffer[] = [];
    let bytes = 0;
    const settle = (then: () => void): void => {
      body.off('readable', onReadable).off('end', onEnd).off('error', onError).off('close', onClose);
      then();
    };
    const onReadable = (): void => {
      for (let chunk: unknown = body.read(); chunk !== null; chunk = body.read()) {
        const buffer = Buffer.from(chunk as Buffer | string); // bodies are byte streams, or texts of them
        head.push(buffer);
        bytes += buffer.length;
        if (bytes <= REPLY_KEPT_MAX_BYTES) continue;
        settle(() => resolve({ head, ended: false }));
        return;
      }
    };
    const onEnd = (): void => settle(() => resolve({ head, ended: true }));
    const onError = (error: Error): void => settle(() => reject(error));
    const onClose = (): void => settle(() => reject(new Error('an answer ended before it was whole')));
    body.on('readable', onReadable).on('end', onEnd).on('error', onError).on('close', onClose);
  });
}

/** The same answer, with the part already read put before the rest. */
function resumed(stream: StreamedAnswer, head: readonly Buffer[]): StreamedAnswer {
  const { body } = stream;
  async function* whole(): AsyncGenerator<unknown> {
    try {
      yield* head;
      yield* body;
    } finally {
      body.destroy();
    }
  }
  const joined = Readable.from(whole(), { objectMode: false });
  // A generator that was never begun runs no `finally`.
  joined.once('close', () => body.destroy());
  return { ...stream, body: joined };
}

/** Null for a call that cost nothing: it may be tried again. */
function keptFailure(error: unknown): KeptReply | null {
  if (!(error instanceof Failure)) return null;
  const { charged, detail, parameter, query } = error.context;
  if (charged === undefined || charged.chargedQu === 0) return null;
  // The caller disconnected: there is no answer to repeat, and running the call again for its key would allow many runs for one charge.
  if (error.code === 'request_timeout') return { kind: 'not_kept' };
  const context: KeptContext = {
    detail,
    charged,
    ...(parameter === undefined ? {} : { parameter }),
    ...(query === undefined ? {} : { query }),
  };
  return { kind: 'failure', code: error.code, context };
}

/** A reply that cannot be stored must not fail the answer: its key stays in use until the lease lapses, and is free again then. */
async function keep(
  { replies, log }: RepeatTools,
  call: RepeatableCall,
  kept: KeptReply | null,
): Promise<void> {
  const { scope, key } = call;
  try {
    await replies.finish({ scope, key, reply: kept === null ? null : JSON.stringify(kept) });
  } catch (error) {
    log.warn({ err: error, scope }, 'an answer could not be kept for its Idempotency-Key');
  }
}

function replayed(answer: Answer): GateAnswer {
  return { answer, delivered: null, replayed: true, chargedQu: 0 };
}

function replay(reply: string): GateAnswer {
  const kept = JSON.parse(reply) as KeptReply; // written by `keep`
  switch (kept.kind) {
    case 'object':
      return replayed({ body: kept.body });
    case 'text':
      return replayed(textAnswer(kept.mediaType, kept.headers, kept.text));
    case 'failure':
      throw fail(kept.code, kept.context);
    case 'not_kept':
      throw fail('reply_not_kept', {
        detail:
          'The request with this Idempotency-Key was run before and charged once; its answer was too large to keep, or its caller left.',
      });
  }
}

/**
 * The hold of a call, under a name of its own: it is written before anything is captured, so that a call begun
 * again after its process died can tell whether it was charged.
 */
function chargeOnce(
  { replies, clock }: RepeatTools,
  { scope, key, requestDigest }: RepeatableCall,
  keepUntilMs: number,
): ChargeOnce {
  // The key is free for another request after a capture whose outcome is not known: that one is charged for itself.
  const name = { scope: `hold:${scope}:${requestDigest}`, key };
  return {
    claim: async (holdId) => {
      const nowMs = clock.nowMs();
      // No lease: a claim that was begun and not finished charged nothing.
      const begun = await replies.begin({
        ...name,
        requestDigest: '',
        nowMs,
        leaseUntilMs: nowMs,
        keepUntilMs,
      });
      if (begun.outcome === 'done') return begun.reply;
      await replies.finish({ ...name, reply: holdId });
      return null;
    },
  };
}
