import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { dateTime, type Sql, sql } from '../../../clickhouse/engine/sql.ts';
import { isFileDue } from '../../../clickhouse/tables/agents.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { ask, cached } from '../ask.ts';

/** The indexed registries, and the progress of deriving and fetching, for telemetry. */

/** Files by what their newest try gave. `due`: to be tried now. */
export interface FileCounts {
  readonly good: number;
  readonly failed: number;
  /** Never tried; of cards also those that there is nothing to try for. */
  readonly untried: number;
  readonly due: number;
  /** Why there is no file, or none that is about its log; most frequent first. */
  readonly problems: readonly { readonly problem: string; readonly count: number }[];
}

interface ChainIdentities {
  readonly agents: number;
  readonly attestations: number;
  /** Agents that something was written about since they were derived. */
  readonly agentsDue: number;
  readonly cards: FileCounts;
  readonly feedbackFiles: FileCounts;
}

export interface IdentityState {
  /** Unix milliseconds. */
  readonly countedAtMs: number;
  /** A chain without anything is missing. */
  readonly chains: ReadonlyMap<Chain, ChainIdentities>;
}

export interface IdentityStates {
  /** At most half a minute old: counting reads the keys of whole tables. */
  state(): Promise<IdentityState>;
}

const MAX_AGE_MS = 30_000;
const MAX_SECONDS = 20;
/** Chains times statuses times the codes of problems, about thirty of them. */
const GROUPS_MAX = 10_000;
const RESOURCE = 'agents';

export function createIdentityStates(deps: {
  readonly reader: Reader;
  readonly clock: Clock;
}): IdentityStates {
  return { state: cached({ clock: deps.clock, maxAgeMs: MAX_AGE_MS, load: () => readState(deps) }) };
}

async function readState({
  reader,
  clock,
}: Parameters<typeof createIdentityStates>[0]): Promise<IdentityState> {
  const countedAtMs = clock.nowMs();
  const now = dateTime(Math.floor(countedAtMs / 1_000));
  const groups = (name: string, statement: Sql) =>
    ask(reader, RESOURCE, {
      name,
      maxSeconds: MAX_SECONDS,
      maxRows: GROUPS_MAX,
      sql: statement,
    });
  const [cards, files, attestations, backlog] = await Promise.all([
    groups(
      'identities-cards',
      sql`SELECT chain, toString(card_status), card_problem, count(), countIf(card_due_at <= ${now})
        FROM agents FINAL WHERE del = 0 GROUP BY chain, card_status, card_problem`,
    ),
    groups(
      'identities-files',
      sql`SELECT chain, toString(status), problem, count(), countIf(${isFileDue(Math.floor(countedAtMs / 1_000))})
        FROM feedback_files FINAL WHERE del = 0 GROUP BY chain, status, problem`,
    ),
    groups(
      'identities-attestations',
      sql`SELECT chain, count() FROM (SELECT chain, del FROM attestations FINAL) WHERE del = 0 GROUP BY chain`,
    ),
    groups('identities-backlog', BACKLOG),
  ]);
  const cardCounts = fileCounts(cards.rows);
  const fileCountsByChain = fileCounts(files.rows);
  const attested = countsOf(attestations.rows);
  const due = countsOf(backlog.rows);
  const chains = new Set([
    ...cardCounts.keys(),
    ...fileCountsByChain.keys(),
    ...attested.keys(),
    ...due.keys(),
  ]);
  return {
    countedAtMs,
    chains: new Map(
      [...chains].map((chain) => {
        const ofCards = cardCounts.get(chain) ?? NO_FILES;
        return [
          chain,
          {
            agents: ofCards.good + ofCards.failed + ofCards.untried,
            attestations: attested.get(chain) ?? 0,
            agentsDue: due.get(chain) ?? 0,
            cards: ofCards,
            feedbackFiles: fileCountsByChain.get(chain) ?? NO_FILES,
          },
        ] as const;
      }),
    ),
  };
}

/** What `ingest/agents/statements.ts` would note as due. */
const BACKLOG = sql`SELECT chain, countIf(written != derived) FROM (
    SELECT chain, agent_id, sum(changes) AS written, sum(derived_changes) AS derived FROM (
      SELECT chain, agent_id, changes, toUInt64(0) AS derived_changes FROM agent_changes
      UNION ALL SELECT chain, agent_id, toUInt64(0), derived_changes FROM agents FINAL)
    GROUP BY chain, agent_id)
  GROUP BY chain`;

const NO_FILES: FileCounts = { good: 0, failed: 0, untried: 0, due: 0, problems: [] };

/** From rows of chain, status, problem, count and due. */
function fileCounts(rows: readonly (readonly unknown[])[]): Map<Chain, FileCounts> {
  const counts = new Map<Chain, FileCounts>();
  for (const row of rows) {
    const chain = chainField(row[0]);
    const [status, problem] = [textField(row[1]), textField(row[2])];
    const [count, due] = [integerField(row[3]), integerField(row[4])];
    const so = counts.get(chain) ?? NO_FILES;
    counts.set(chain, {
      good: so.good + (status === 'good' ? count : 0),
      failed: so.failed + (status === 'failed' ? count : 0),
      untried: so.untried + (status === 'good' || status === 'failed' ? 0 : count),
      due: so.due + due,
      problems: problem === '' ? so.problems : withProblem(so.problems, problem, count),
    });
  }
  return counts;
}

function withProblem(
  problems: FileCounts['problems'],
  problem: string,
  more: number,
): FileCounts['problems'] {
  const count = more + (problems.find((known) => known.problem === problem)?.count ?? 0);
  return [...problems.filter((known) => known.problem !== problem), { problem, count }].sort(
    (one, other) => other.count - one.count || (one.problem < other.problem ? -1 : 1),
  );
}

function countsOf(rows: readonly (readonly unknown[])[]): Map<Chain, number> {
  return new Map(rows.map(([chain, count]) => [chainField(chain), integerField(count)]));
}

/** Written by ingest from `Chain` values only. */
function chainField(field: unknown): Chain {
  return textField(field) as Chain;
}
