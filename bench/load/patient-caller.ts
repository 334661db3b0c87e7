import { setTimeout as sleep } from 'node:timers/promises';
import type { Stage } from './stage.ts';

/** A caller that heeds `Retry-After` and checks each answer: it must equal the one that it got before the overload. */
export interface PatientCaller {
  /** Ends its walk and returns its observations. */
  stop(): Promise<Met>;
}

export interface Met {
  /** Milliseconds of each good answer, refusals before it not counted. */
  readonly answersMs: readonly number[];
  readonly refusals: number;
  /** Answers that differ from those before the overload. */
  readonly wrong: readonly string[];
  /** Refusals that the catalogue of errors does not allow. */
  readonly undocumented: readonly string[];
}

/** Codes that say "later". */
const SHED_CODES: ReadonlySet<string> = new Set([
  '429 rate_limited',
  '503 overloaded',
  '503 upstream_unavailable',
]);
const PAGES = 8;
const PAUSE_MS = 50;

/** The rows of a page that can no longer change, without the fields that depend on the time. */
interface Page {
  readonly flows: unknown;
}

/** Starts to request pages of the feed, deep ones first, because those do not change. */
export async function startPatientCaller(stage: Stage, paths: readonly string[]): Promise<PatientCaller> {
  const asked = paths.slice(-PAGES);
  const expected = new Map<string, string>();
  for (const path of asked) {
    const { text } = await ask(stage, path);
    expected.set(path, rowsOf(text));
  }
  const met = { answersMs: [] as number[], refusals: 0, wrong: [] as string[], undocumented: [] as string[] };
  let isOver = false;
  const walking = (async () => {
    for (let turn = 0; !isOver; turn++) {
      const path = asked[turn % asked.length] ?? '';
      const { status, text, retryAfter, ms } = await ask(stage, path);
      if (status === 200) {
        met.answersMs.push(ms);
        if (rowsOf(text) !== expected.get(path)) met.wrong.push(path);
        await sleep(PAUSE_MS);
        continue;
      }
      met.refusals += 1;
      const { code } = JSON.parse(text) as { readonly code: string }; // our own problem documents
      if (!SHED_CODES.has(`${status} ${code}`) || retryAfter === null)
        met.undocumented.push(`${status} ${text}`);
      await sleep(Number(retryAfter ?? 1) * 1_000);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await walking;
      return met;
    },
  };
}

function rowsOf(text: string): string {
  return JSON.stringify((JSON.parse(text) as Page).flows); // our own API
}

async function ask({ url, keys }: Stage, path: string) {
  const began = performance.now();
  const answer = await fetch(`${url}${path}`, { headers: { 'x-api-key': keys.patient } });
  const text = await answer.text();
  const ms = performance.now() - began;
  return { status: answer.status, text, retryAfter: answer.headers.get('retry-after'), ms };
}
