import { Readable } from 'node:stream';
import { Failure } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Answer } from '../operations/answer.ts';

/** Ends streams of events with the credential that they were opened with, whichever process it was revoked in. */

/** Between two looks at the credential of an open stream: for so long it may go on after a revocation. docs/access.md states it. */
export const KEY_LOOK_MS = 5_000;

interface KeyWatch {
  /** Rejects with a `Failure` once the call would be refused for its credential. */
  check(): Promise<void>;
  readonly lookMs: number;
  readonly log: Log;
}

/** The answer, whose events end without an error once `check` refuses; the client's next request gets the reason. */
export function endedWithKey(answer: Answer, watch: KeyWatch): Answer {
  if (!('stream' in answer) || !answer.stream.mediaType.startsWith('text/event-stream')) return answer;
  return { stream: { ...answer.stream, body: watched(answer.stream.body, watch) } };
}

function watched(body: Readable, { check, lookMs, log }: KeyWatch): Readable {
  let end: () => void = () => undefined;
  const ended = new Promise<IteratorReturnResult<undefined>>((resolve) => {
    end = () => resolve({ done: true, value: undefined });
  });
  const look = async (): Promise<void> => {
    try {
      await check();
    } catch (error) {
      // A store that does not answer says nothing about the key.
      if (error instanceof Failure && REFUSED.includes(error.code)) end();
      else log.warn({ err: error }, 'the key of an open stream could not be looked up');
    }
  };
  const timer = setInterval(() => void look(), lookMs).unref();
  async function* events(): AsyncGenerator<unknown> {
    const chunks: AsyncIterator<unknown> = body[Symbol.asyncIterator]();
    for (;;) {
      const next = await Promise.race([chunks.next(), ended]);
      if (next.done === true) return;
      yield next.value;
    }
  }
  const stream = Readable.from(events(), { objectMode: false });
  return stream.once('close', () => {
    clearInterval(timer);
    end();
    body.destroy();
  });
}

const REFUSED: readonly string[] = ['invalid_api_key', 'key_restricted'];
