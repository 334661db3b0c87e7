import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError } from '../../../clickhouse/engine/engine.ts';
import { type Accepted, type InspectDeps, inspect, type Judgement } from '../../../sandbox/judge/inspect.ts';
import { createEngineParser } from '../../../sandbox/judge/parser.ts';
import { loadPolicy } from '../../../sandbox/policy/policy.ts';
import { type FuzzEngine, OVERLOADED_RETRIES_MAX, type RunOutcome } from './fuzz-engine.ts';
import { createOracle, readLog, type Violation } from './oracle.ts';
import type { FuzzCase } from './selects.ts';

/** Judges texts in batches: the engine writes down what queries used only now and then, and on demand once for many. */
export interface Judge {
  judge(cases: readonly FuzzCase[]): Promise<readonly Judged[]>;
}

export interface Judged {
  readonly verdict: 'accepted' | 'refused' | 'none';
  /** Refusal code, or the engine's error code of the run. */
  readonly code: string;
  readonly inspectMs: number;
  readonly violations: readonly Violation[];
}

/** As many as the guest may run at once. */
const LANES = 2;
/** Far above what parsing takes; a slower text lets a caller hold the engine without having been admitted. */
export const INSPECT_MS_MAX = 5_000;

/** Seconds, on a machine that is busy with other tests. */
const LOG_TRIES = 20;
const LOG_PAUSE_MS = 250;

interface Context {
  readonly engine: FuzzEngine;
  readonly deps: InspectDeps;
}

/** What a lane found; the log is read when the whole batch has run. */
interface Tried extends Omit<Judged, 'violations'> {
  readonly violations: Violation[];
  readonly ran: { readonly queryId: string; readonly text: string; readonly outcome: RunOutcome } | null;
}

export function createJudge(engine: FuzzEngine): Judge {
  const context = { engine, deps: { parser: createEngineParser(engine.guest), policy: loadPolicy() } };
  const oracle = createOracle(engine);
  let batches = 0;
  return {
    async judge(cases) {
      const prefix = `fuzz-${++batches}-`;
      const tried = await inLanes(cases, (one, index) => tryCase(context, one, `${prefix}${index}`));
      await engine.writer.ping();
      const ended = tried.flatMap(({ ran }) =>
        ran === null || ran.outcome.code === null ? [] : [ran.queryId],
      );
      const log = await readWholeLog(engine.writer, prefix, ended);
      return tried.map(({ ran, violations, ...rest }) => ({
        ...rest,
        violations:
          ran === null ? violations : [...violations, ...oracle({ ...ran, used: log.get(ran.queryId) })],
      }));
    },
  };
}

/** A query is written down when its answer has gone out: the last ones of a batch may be there a moment later. */
async function readWholeLog(
  writer: FuzzEngine['writer'],
  prefix: string,
  ended: readonly string[],
): ReturnType<typeof readLog> {
  for (let tries = 1; ; tries++) {
    const log = await readLog(writer, prefix);
    if (tries >= LOG_TRIES || ended.every((queryId) => log.has(queryId))) return log;
    await sleep(LOG_PAUSE_MS);
  }
}

async function inLanes<Item, Result>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const entries = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of entries) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return results;
}

async function tryCase(context: Context, one: FuzzCase, queryId: string): Promise<Tried> {
  const began = performance.now();
  const verdict = await verdictOf(one, context);
  const inspectMs = performance.now() - began;
  const violations: Violation[] = [];
  if (inspectMs > INSPECT_MS_MAX)
    violations.push({ rule: 'inspect-slow', detail: `${Math.round(inspectMs)} ms` });
  if ('failed' in verdict) {
    violations.push({ rule: 'inspect-throws', detail: verdict.failed });
    return { verdict: 'none', code: 'threw', inspectMs, violations, ran: null };
  }
  if ('refused' in verdict)
    return { verdict: 'refused', code: verdict.refused.code, inspectMs, violations, ran: null };
  const { accepted } = verdict;
  violations.push(
    ...(await fixedPoint(accepted, one, context)),
    ...(await settingsIn(accepted, one, context)),
  );
  const { text } = accepted;
  const outcome = await context.engine.run(queryId, { text, parameters: one.parameters });
  return {
    verdict: 'accepted',
    code: String(outcome.code),
    inspectMs,
    violations,
    ran: { queryId, text, outcome },
  };
}

async function verdictOf(
  { text, parameters }: FuzzCase,
  { deps }: Pick<Context, 'deps'>,
  retriesLeft = OVERLOADED_RETRIES_MAX,
): Promise<Judgement | { failed: string }> {
  try {
    return await inspect(text, parameters, deps);
  } catch (error) {
    if (error instanceof EngineError && error.problem === 'overloaded' && retriesLeft > 0)
      return verdictOf({ text, parameters }, { deps }, retriesLeft - 1);
    return {
      failed:
        error instanceof Error ? `${error.message}: ${String(error.cause).slice(0, 200)}` : String(error),
    };
  }
}

/** A text that is accepted once is accepted again, and means the same. */
async function fixedPoint(
  accepted: Accepted,
  { parameters }: FuzzCase,
  context: Context,
): Promise<Violation[]> {
  const again = await verdictOf({ text: accepted.text, parameters }, context);
  const names = ({ text, tables, functions }: Accepted): string =>
    JSON.stringify([text, [...tables].sort(), [...functions].sort()]);
  if ('accepted' in again && names(again.accepted) === names(accepted)) return [];
  return [{ rule: 'not-a-fixed-point', detail: JSON.stringify(again).slice(0, 300) }];
}

/** No log shows a clause that only a part of a query got; the engine's tree does. */
async function settingsIn(
  { text }: Accepted,
  { parameters }: FuzzCase,
  { engine }: Context,
): Promise<Violation[]> {
  if (!/settings/i.test(text)) return [];
  const rows = await engine.guest.explain({
    name: 'fuzz-settings',
    text: `EXPLAIN QUERY TREE run_passes = 0 ${text}`,
    parameters,
    maxSeconds: 5,
  });
  const line = rows.map(([first]) => String(first)).find((printed) => /^ *SETTINGS \w+=/.test(printed));
  return line === undefined ? [] : [{ rule: 'settings', detail: line.trim() }];
}
