import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { publicDatabaseOf } from '../../clickhouse/engine/databases.ts';
import {
  EngineError,
  type Guest,
  type GuestQuery,
  type QueryFigures,
} from '../../clickhouse/engine/engine.ts';
import { type Accepted, type InspectDeps, inspect, type Judgement } from '../../sandbox/judge/inspect.ts';
import { parametersAsSent } from '../../sandbox/judge/literals/parameters.ts';
import { createEngineParser } from '../../sandbox/judge/parser.ts';
import { type Refusal, Refused } from '../../sandbox/judge/refusal.ts';
import { checkResolved, RESOLVE_QUESTION } from '../../sandbox/judge/resolved.ts';
import { type OpenSandbox, openSandbox, type SandboxOptions } from '../../sandbox/open.ts';
import { loadPolicy } from '../../sandbox/policy/policy.ts';
import { testLog } from './engine.ts';
import type { SandboxEngine } from './sandbox-engine.ts';

export type SqlParams = Readonly<Record<string, string>>;

/** The first wall over a real engine, by the pinned policy, and what the guest gets of the texts that it accepts. */
export interface Judge {
  readonly deps: InspectDeps;
  verdict(sql: string, params?: SqlParams): Promise<Judgement>;
  /** Throws where it is refused. */
  accepted(sql: string, params?: SqlParams): Promise<Accepted>;
  /** Throws where it is accepted. */
  refused(sql: string, params?: SqlParams): Promise<Refusal>;
  /** The code of the refusal, or `accepted`. */
  codeOf(sql: string, params?: SqlParams): Promise<string>;
  /**
   * The second judgement alone, of a text that the first one may never have seen: the code of its refusal, `passes`, or `not planned` where
   * the engine makes no query of it.
   */
  resolved(text: string, parameters?: SqlParams): Promise<string>;
  /** The rows of the accepted text. */
  rows(sql: string, params?: SqlParams, maxSeconds?: number): Promise<readonly (readonly unknown[])[]>;
  /** Runs a text unchanged as the guest, in a format of the engine. */
  run(
    text: string,
    over: Partial<GuestQuery>,
  ): Promise<{ readonly figures: QueryFigures; readonly bytes: Buffer }>;
}

const DATABASE = 'index_of_test';

export function judgeOf(guest: Guest): Judge {
  const deps: InspectDeps = { parser: createEngineParser(guest), policy: loadPolicy() };
  const verdict = (sql: string, params: SqlParams = {}): Promise<Judgement> => inspect(sql, params, deps);
  const policy = { ...deps.policy, databases: new Set([publicDatabaseOf(DATABASE)]) };
  const accepted = async (sql: string, params?: SqlParams): Promise<Accepted> => {
    const judged = await verdict(sql, params);
    if ('refused' in judged) throw new Error(`${sql}: ${JSON.stringify(judged.refused)}`);
    return judged.accepted;
  };
  return {
    deps,
    verdict,
    accepted,
    async refused(sql, params) {
      const judged = await verdict(sql, params);
      if ('accepted' in judged) throw new Error(`accepted: ${judged.accepted.text}`);
      return judged.refused;
    },
    async codeOf(sql, params) {
      const judged = await verdict(sql, params);
      return 'refused' in judged ? judged.refused.code : 'accepted';
    },
    async resolved(text, parameters = {}) {
      const question = { name: 'resolve', text: `${RESOLVE_QUESTION} ${text}`, parameters, maxSeconds: 2 };
      try {
        const lines = await guest.explain({ ...question, withoutRows: true, showScalars: true });
        checkResolved(
          lines.map(([line]) => String(line)),
          policy,
        );
        return 'passes';
      } catch (error) {
        if (error instanceof EngineError) return 'not planned';
        if (error instanceof Refused) return error.refusal.code;
        throw error;
      }
    },
    async rows(sql, params = {}, maxSeconds = 10) {
      const { text, parameters } = await accepted(sql, params);
      const sent = parametersAsSent(parameters, params);
      return guest.explain({ name: 'test', text, parameters: sent, maxSeconds });
    },
    async run(text, over) {
      const query = {
        name: 'test',
        text,
        queryId: randomUUID(),
        format: 'TSV',
        maxRows: 10_000,
        maxSeconds: 20,
      };
      const { figures, body } = await guest.query({ ...query, ...over }, new AbortController().signal);
      return { figures, bytes: await buffer(body) };
    },
  };
}

export interface SqlExample {
  readonly id: string;
  readonly sql: string;
  readonly params?: SqlParams;
  /** What a table of the engine would have to have for it. */
  readonly needs?: string;
}

/** The lines of a file of `test/fixtures/sql`. */
export function sqlLines<Line = SqlExample>(name: string): Line[] {
  return readFileSync(new URL(`../fixtures/sql/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line); // our own file
}

/** A sandbox over an engine of the tests, as the service opens it. The caller closes it. */
export function sandboxOver(engine: SandboxEngine, over: Partial<SandboxOptions> = {}): OpenSandbox {
  return openSandbox({
    access: engine.access,
    log: testLog,
    cores: 2,
    restartEngine: engine.restart,
    secondsOf: () => 15,
    ...over,
  });
}
