import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Judgement } from '../judge/inspect.ts';
import type { PlannedQuery } from '../run/planning.ts';
import type { SandboxText, SqlSandbox } from '../sandbox.ts';
import { TEXT_MAX_CHARS } from './dialects.ts';
import type { Translator } from './translator.ts';

/**
 * What to offer with the refusal of a text: the same question in ClickHouse's words, if the text is of another dialect. An offer has
 * been judged like any other text, and its names and types fit. It is never run.
 */
export interface SuggestDeps {
  readonly translator: Pick<Translator, 'likelyFirst' | 'translate'>;
  readonly inspect: SqlSandbox['inspect'];
  /** Whether names and types fit, with no row read (type-check.ts). */
  readonly checkTypes: (query: PlannedQuery, signal: AbortSignal) => Promise<boolean>;
  /** For tests. */
  readonly nowMs?: () => number;
}

/** Checking names and types takes some milliseconds; a suggestion whose check takes longer is not offered. */
const CHECK_MAX_MS = 1_000;
/** Remembered answers, which include that there is none. */
const REMEMBERED_MAX = 1_000;
/** A caller whose texts ended the thread this often within the pause gets no suggestions for the rest of it. */
const ENDED_MAX = 3;
const PAUSE_MS = 60_000;
const PAUSED_MAX = 10_000;

export function createSuggest(deps: SuggestDeps): SqlSandbox['suggest'] {
  const { nowMs = Date.now } = deps;
  const remembered = new LRUCache<string, { readonly sql: string | null }>({ max: REMEMBERED_MAX });
  const pauses = createPauses(nowMs);
  const asking = new Map<string, { readonly key: string; readonly sql: Promise<string | null> }>();
  const answer = async (asked: SandboxText, key: string): Promise<string | null> => {
    const found = await firstAccepted(asked, deps);
    if (found === 'ended') pauses.count(asked.caller);
    if (found === 'ended' || found === 'busy') return null;
    remembered.set(key, found);
    return found.sql;
  };
  return async (asked) => {
    const { text, caller } = asked;
    // Placeholders are ClickHouse's own.
    if (text.length > TEXT_MAX_CHARS || /\{\s*\w+\s*:/.test(text)) return null;
    const key = createHash('sha256').update(text).digest('base64');
    const known = remembered.get(key);
    if (known !== undefined) return known.sql;
    const current = asking.get(caller);
    // A page asks for the estimate and the run of the same text.
    if (current?.key === key) return current.sql;
    // One text of a caller at a time: the thread is shared.
    if (current !== undefined || pauses.holds(caller)) return null;
    // After a failure the caller gets the error that it would get without suggestions.
    const sql = answer(asked, key)
      .catch(() => null)
      .finally(() => asking.delete(caller));
    asking.set(caller, { key, sql });
    return sql;
  };
}

interface Pauses {
  count(caller: string): void;
  holds(caller: string): boolean;
}

function createPauses(nowMs: () => number): Pauses {
  const ended = new LRUCache<string, { readonly count: number; readonly untilMs: number }>({
    max: PAUSED_MAX,
  });
  const of = (caller: string) => {
    const known = ended.get(caller);
    return known === undefined || known.untilMs <= nowMs()
      ? { count: 0, untilMs: nowMs() + PAUSE_MS }
      : known;
  };
  return {
    count(caller) {
      const { count, untilMs } = of(caller);
      ended.set(caller, { count: count + 1, untilMs });
    },
    holds: (caller) => of(caller).count >= ENDED_MAX,
  };
}

async function firstAccepted(
  asked: SandboxText,
  deps: SuggestDeps,
): Promise<{ readonly sql: string | null } | 'ended' | 'busy'> {
  const guess = await deps.translator.likelyFirst(asked.text);
  if ('failed' in guess) return guess.failed;
  const tried = new Set([squeezed(asked.text)]);
  for (const dialect of guess.dialects) {
    const outcome = await deps.translator.translate(asked.text, dialect);
    if ('failed' in outcome) return outcome.failed;
    const { sql } = outcome;
    if (sql === null || tried.has(squeezed(sql))) continue;
    tried.add(squeezed(sql));
    const verdict = await deps.inspect({ text: sql, parameters: {}, caller: asked.caller });
    if (await fits(verdict, asked, deps)) return { sql };
  }
  return { sql: null };
}

/** Without what the printer may write otherwise. */
function squeezed(sql: string): string {
  return sql
    .toLowerCase()
    .replace(/[\s;`"]+/g, '')
    .replace(/\bas\b/g, '');
}

async function fits(
  verdict: Judgement,
  { caller }: SandboxText,
  { checkTypes }: SuggestDeps,
): Promise<boolean> {
  if (!('accepted' in verdict)) return false;
  return checkTypes(
    { accepted: verdict.accepted, parameters: {}, caller },
    AbortSignal.timeout(CHECK_MAX_MS),
  );
}
