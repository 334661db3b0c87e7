import type { Clock } from '../../../core/clock.ts';
import { withOwnNames } from '../../../core/domain/own-table.ts';
import type { SqlTierId } from '../../../core/domain/plan.ts';
import { printSnapshot } from '../../../core/domain/snapshot.ts';
import type { Accepted } from '../../../sandbox/judge/inspect.ts';
import type { SandboxQuery, SqlSandbox } from '../../../sandbox/sandbox.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import { type KeptResult, queryKeyOf, type Results } from '../../results/results.ts';
import type { RoomOwner } from '../../results/room.ts';
import type { Shares } from '../../results/shares.ts';
import type { Meta } from '../meta.ts';
import type { SavedAnswers } from './ready-answer.ts';
import type { SqlWarning } from './shapes.ts';

/** Runs whose results are kept, and which equal queries share. */
export interface KeptSql {
  readonly results: Results;
  readonly jobs: Jobs;
  /** Links to results. */
  readonly shares: Shares;
  /** Answers of saved queries. */
  readonly answers: SavedAnswers;
  /**
   * A kept result that is new enough, or that of an equal query under way in this process, or that of a run of its own. Rejects like
   * `run` of the sandbox, and with a `Failure` where the storage does not answer, or has no room for the result of a job.
   */
  obtain(query: KeptQuery, signal?: AbortSignal): Promise<Obtained>;
}

export interface KeptQuery
  extends Pick<SandboxQuery, 'asOf' | 'job' | 'runId' | 'maxSeconds' | 'mustBeWhole'> {
  readonly accepted: Accepted;
  readonly parameters: Readonly<Record<string, string>>;
  readonly tier: SqlTierId;
  readonly maxRows: number;
  /** How old a kept result may be; null: the query runs, by itself. */
  readonly maxAgeSeconds: number | null;
  /** Whose room its result takes. */
  readonly owner: RoomOwner;
  readonly callerName: string;
  /** Of before the run. */
  readonly meta: Meta;
  readonly warnings: readonly SqlWarning[];
}

export interface Obtained {
  readonly kept: KeptResult;
  /** Whether it was run for this query. */
  readonly isOwn: boolean;
}

interface KeptDeps {
  readonly results: Results;
  readonly jobs: Jobs;
  readonly shares: Shares;
  readonly answers: SavedAnswers;
  readonly sandbox: Pick<SqlSandbox, 'run'>;
  readonly clock: Clock;
}

/** A result answers other texts that mean the same, where the edits of this one would change something else. */
function withoutEdits({ edits: _, ...warning }: SqlWarning): SqlWarning {
  return warning;
}

export function createKeptSql({ results, jobs, shares, answers, sandbox, clock }: KeptDeps): KeptSql {
  const underWay = new Map<string, Promise<KeptResult>>();

  const run = async (query: KeptQuery, signal: AbortSignal): Promise<KeptResult> => {
    const { accepted, parameters, tier, maxRows, owner, callerName, meta, warnings, asOf } = query;
    const startedAtMs = clock.nowMs();
    const result = await sandbox.run(
      {
        accepted,
        parameters,
        tier,
        format: 'kept',
        // One more shows that there are more.
        maxRows: maxRows + 1,
        caller: callerName,
        ...(asOf === undefined ? {} : { asOf }),
        ...(query.maxSeconds === undefined ? {} : { maxSeconds: query.maxSeconds }),
        ...(query.mustBeWhole === undefined ? {} : { mustBeWhole: query.mustBeWhole }),
        ...(query.job === undefined ? {} : { job: query.job }),
        ...(query.runId === undefined ? {} : { runId: query.runId }),
      },
      signal,
    );
    return results.keep(result, {
      queryKey: keyOf(query),
      dataVersion: asOf === undefined ? dataVersionOf(meta) : printSnapshot(asOf),
      owner,
      mustKeep: query.job !== undefined,
      startedAtMs,
      maxRows,
      facts: { tier, sql: withOwnNames(accepted.text), warnings: warnings.map(withoutEdits), meta },
    });
  };

  /** Not stopped when its caller leaves: others may wait for it. */
  const runShared = (key: string, query: KeptQuery): Promise<KeptResult> => {
    const begun = run(query, new AbortController().signal).finally(() => underWay.delete(key));
    underWay.set(key, begun);
    return begun;
  };

  const shared = async (query: KeptQuery, maxAgeSeconds: number, signal: AbortSignal): Promise<Obtained> => {
    const { maxRows } = query;
    const queryKey = keyOf(query);
    const recent = await results.recent({ queryKey, maxRows, maxAgeMs: maxAgeSeconds * 1_000 });
    if (recent !== null && suffices(recent, query)) return { kept: recent, isOwn: false };
    const key = `${queryKey} ${maxRows} ${query.mustBeWhole}`;
    const other = underWay.get(key);
    if (other === undefined) return { kept: await runShared(key, query), isOwn: true };
    const kept = await other.catch(() => null);
    // Its run may have had less time, or its caller may be refused: the query runs by itself.
    return kept === null ? { kept: await run(query, signal), isOwn: true } : { kept, isOwn: false };
  };

  return {
    results,
    jobs,
    shares,
    answers,
    obtain: async (query, signal = new AbortController().signal) => {
      const { maxAgeSeconds, job } = query;
      if (maxAgeSeconds === null) return { kept: await run(query, signal), isOwn: true };
      // The run of a job can be cancelled, so that others do not wait for it.
      if (job === undefined) return shared(query, maxAgeSeconds, signal);
      const queryKey = keyOf(query);
      const maxAgeMs = maxAgeSeconds * 1_000;
      const recent = await results.recent({ queryKey, maxRows: query.maxRows, maxAgeMs });
      return recent !== null && suffices(recent, query)
        ? { kept: recent, isOwn: false }
        : { kept: await run(query, signal), isOwn: true };
    },
  };
}

/** A result with more rows than a query may have is none for a caller that wants all rows: its own run says so. */
function suffices({ rows, hasMore }: KeptResult, { maxRows, mustBeWhole = false }: KeptQuery): boolean {
  return !mustBeWhole || (!hasMore && rows <= maxRows);
}

function keyOf({ accepted, parameters, asOf }: KeptQuery): string {
  return queryKeyOf(accepted.text, parameters, asOf === undefined ? null : printSnapshot(asOf));
}

/** What of the data a query could see: it changes with every block that is indexed or becomes final. */
function dataVersionOf({ freshness: { chains } }: Meta): string {
  return JSON.stringify(
    chains.map(({ chain, indexed_block: indexed, finalized_block: finalized }) => [
      chain,
      indexed,
      finalized,
    ]),
  );
}
