import { ERRORS, type ErrorCode } from '../../core/errors.ts';
import type { Random } from '../../demo/random.ts';
import type { Member } from './member.ts';

/** What callers hear, from whichever API they reach; every refusal is held against the catalogue of errors. */

export interface Heard {
  readonly status: number;
  /** Null for a good answer. */
  readonly code: string | null;
  /** The part that a refusal names as out of order; null where it names none. */
  readonly resource: string | null;
  readonly body: unknown;
  readonly headers: Headers;
}

export interface Ear {
  /** One attempt at one API; null when no answer came. */
  ask(path: string, init?: RequestInit): Promise<Heard | null>;
  /** How often each answer was heard, as `200` or `503 overloaded`; `-` for none. */
  counts(): Readonly<Record<string, number>>;
  /** Answers that the catalogue does not allow. */
  wrong(): readonly string[];
}

/** Above the longest run of a read and of a payment, so that only an API that cannot be reached is given up. */
const ANSWER_TIMEOUT_MAX_MS = 40_000;
/** Documented, and still nothing that a fault may cause: a caller that gets it has found a bug. */
const NEVER: ReadonlySet<string> = new Set(['internal_error', 'key_issue_failed']);
/** These have to say when to come again. */
const LATER: ReadonlySet<number> = new Set([429, 503]);
const SHOWN_MAX_CHARS = 300;

/** `patienceMs`: what one attempt may take, up to what any answer does. */
export function createEar(members: readonly Member[], random: Random, patienceMs: number): Ear {
  const timeoutMs = Math.min(patienceMs, ANSWER_TIMEOUT_MAX_MS);
  const urls = members.flatMap(({ url }) => (url === null ? [] : [url]));
  const counts = new Map<string, number>();
  const wrong: string[] = [];
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  return {
    async ask(path, init) {
      const heard = await attempt(`${random.pick(urls)}${path}`, {
        ...init,
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (heard === null) {
        count('-');
        return null;
      }
      count(heard.code === null ? String(heard.status) : `${heard.status} ${heard.code}`);
      const problem = problemOf(heard);
      if (problem !== null)
        wrong.push(
          `${path}: ${problem}: ${heard.status} ${JSON.stringify(heard.body)?.slice(0, SHOWN_MAX_CHARS)}`,
        );
      return heard;
    },
    counts: () => Object.fromEntries([...counts].sort()),
    wrong: () => wrong,
  };
}

async function attempt(url: string, init: RequestInit): Promise<Heard | null> {
  try {
    const answer = await fetch(url, init);
    const text = await answer.text();
    const body: unknown = /json/.test(answer.headers.get('content-type') ?? '') ? JSON.parse(text) : text;
    const { status, headers } = answer;
    const resource = textField(body, 'resource');
    return { status, headers, body, resource, code: answer.ok ? null : (textField(body, 'code') ?? 'none') };
  } catch {
    return null; // killed, stopped or cut off; half an answer is none
  }
}

function textField(body: unknown, name: string): string | null {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  return typeof value === 'string' ? value : null;
}

/** What the catalogue of errors has against an answer. */
function problemOf({ status, code, headers }: Heard): string | null {
  if (code === null) return null;
  if (!isCode(code)) return 'not in the catalogue';
  if (ERRORS[code].status !== status) return 'with the status of another code';
  if (NEVER.has(code)) return 'never to be heard';
  if (!(headers.get('content-type') ?? '').startsWith('application/problem+json'))
    return 'no problem document';
  return LATER.has(status) && headers.get('retry-after') === null ? 'without Retry-After' : null;
}

function isCode(code: string): code is ErrorCode {
  return code in ERRORS;
}
