import { createHash } from 'node:crypto';
import type { Verdict } from '../judge/inspect.ts';
import { Refused } from '../judge/refusal.ts';
import { QueryFailed, type SandboxText, type SqlSandbox } from '../sandbox.ts';
import { TEXT_MAX_CHARS } from './spelling.ts';
import type { Translation } from './translate.ts';
import type { Translator } from './translator.ts';

/**
 * What to offer beside the refusal of a text: the same question in ClickHouse's words, if the text is of another dialect. An offer has
 * been judged like any other text, and planned where planning is fast. It is never run.
 */
export interface SuggestDeps {
  readonly translator: Pick<Translator, 'translate'>;
  readonly inspect: SqlSandbox['inspect'];
  readonly estimate: SqlSandbox['estimate'];
  /** For tests. */
  readonly nowMs?: () => number;
}

/** Planning a suggestion may take this long; one that takes longer is offered unplanned. */
const PLAN_MAX_MS = 300;
/** Remembered answers, which include that there is none. */
const REMEMBERED_MAX = 1_000;
/** A caller whose text ended the thread gets no suggestions for this long. */
const PAUSE_MS = 60_000;
const PAUSED_MAX = 10_000;

export function createSuggest(deps: SuggestDeps): SqlSandbox['suggest'] {
  const { nowMs = Date.now } = deps;
  const remembered = new Map<string, string | null>();
  const pausedUntil = new Map<string, number>();
  const asking = new Set<string>();
  const keep = (key: string, sql: string | null): string | null => {
    remembered.set(key, sql);
    dropOldest(remembered, REMEMBERED_MAX);
    return sql;
  };
  const answer = async (asked: SandboxText, key: string): Promise<string | null> => {
    const outcome = await deps.translator.translate(asked.text);
    if ('translations' in outcome) return keep(key, await firstAccepted(outcome.translations, asked, deps));
    if (outcome.failed === 'busy') return null;
    pausedUntil.set(asked.caller, nowMs() + PAUSE_MS);
    dropOldest(pausedUntil, PAUSED_MAX);
    return keep(key, null);
  };
  return async (asked) => {
    const { text, caller } = asked;
    // Placeholders are ClickHouse's own.
    if (text.length > TEXT_MAX_CHARS || /\{\s*\w+\s*:/.test(text)) return null;
    const key = createHash('sha256').update(text).digest('base64');
    const known = remembered.get(key);
    if (known !== undefined) return known;
    // One text of a caller at a time: the thread is shared.
    if (asking.has(caller) || (pausedUntil.get(caller) ?? 0) > nowMs()) return null;
    asking.add(caller);
    try {
      return await answer(asked, key);
    } catch {
      // The caller gets the error that it would get without suggestions.
      return null;
    } finally {
      asking.delete(caller);
    }
  };
}

function dropOldest(map: Map<string, unknown>, max: number): void {
  for (const oldest of map.keys()) {
    if (map.size <= max) return;
    map.delete(oldest);
  }
}

async function firstAccepted(
  translations: readonly Translation[],
  asked: SandboxText,
  deps: SuggestDeps,
): Promise<string | null> {
  for (const { sql } of translations) {
    if (squeezed(sql) === squeezed(asked.text)) continue;
    const verdict = await deps.inspect({ text: sql, parameters: {}, caller: asked.caller });
    if (await isPlannable(verdict, asked, deps)) return sql;
  }
  return null;
}

/** Without what the printer may write otherwise. */
function squeezed(sql: string): string {
  return sql.toLowerCase().replace(/[\s;`"]+/g, '').replace(/\bas\b/g, '');
}

async function isPlannable(verdict: Verdict, { caller }: SandboxText, { estimate }: SuggestDeps): Promise<boolean> {
  if (!('accepted' in verdict)) return false;
  const { accepted } = verdict;
  // Planning the others computes their subqueries, which is not free.
  if (!accepted.safeToPlan) return true;
  const failure: unknown = await estimate({ accepted, parameters: {}, caller }, AbortSignal.timeout(PLAN_MAX_MS)).then(
    () => null,
    (error: unknown) => error,
  );
  return !(failure instanceof Refused || failure instanceof QueryFailed);
}
