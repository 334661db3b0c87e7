import { keccak_256 } from '@noble/hashes/sha3.js';
import type { Writer } from '../../../clickhouse/engine/engine.ts';
import { COMMENT_RULE, FEEDBACK_FILES } from '../../../clickhouse/tables/agents.ts';
import { ATTESTATIONS } from '../../../clickhouse/tables/registries.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Config } from '../../../core/config/config.ts';
import { ZERO_HASH } from '../../../core/domain/account.ts';
import type { FeedbackFile } from '../../../core/domain/agent.ts';
import type { Log } from '../../../core/log.ts';
import { type DocumentFetcher, FILE_MEDIA_TYPES } from '../../fetch/document.ts';
import { laneOptions, lanesOf, runLanes } from '../../fetch/host-lanes.ts';
import { isWorthATry, NEVER, type RetryTimes, retryAt } from '../../fetch/retry-times.ts';
import { untilAcknowledged } from '../../write/batch-writer.ts';
import type { WriteWatch } from '../../write/watch-writes.ts';
import {
  collectRows,
  type FetchedBatch,
  type Look,
  lookedAtSince,
  QUEUE_LIMITS,
  type QueueLimits,
  runQueue,
} from '../queue.ts';
import { JSON_PROBLEMS } from '../values.ts';
import {
  type DueFeedback,
  FEEDBACK_FILE_MAX_BYTES,
  type FeedbackOutcome,
  readDueFeedback,
  readFeedbackFile,
  saveFeedback,
} from './row.ts';

/**
 * Fetches the files that feedback names, each until it has been read once: its content at the time of the rating counts. Files that were
 * read before comments were kept are fetched once more, for the comment alone. Can be
 * killed at any point: a file that was not written is still due.
 */

/** In addition to fetch problems: a readable file that contradicts its log. Stored with status `good`. */
export const FEEDBACK_PROBLEMS = {
  ...JSON_PROBLEMS,
  other_agent: 'The file names another agent than the log.',
  other_client: 'The file names another client than the log.',
} as const;

const FEEDBACK_TIMES: RetryTimes = {
  firstRetrySeconds: 10 * 60,
  retryMaxSeconds: 7 * 86_400,
  refreshSeconds: 0,
};
/** About two months. A file that was never served in that time most likely never existed. */
const FAILURES_MAX = 18;

export interface FeedbackQueueDeps {
  readonly config: Pick<Config, 'chains' | 'identities'>;
  readonly fetcher: DocumentFetcher;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly limits?: Partial<QueueLimits>;
  /** Default: other processes write too. */
  readonly writes?: WriteWatch;
}

/** Until the signal aborts. */
export async function fetchFeedback(deps: FeedbackQueueDeps): Promise<void> {
  const limits = { ...QUEUE_LIMITS, ...deps.limits };
  const run = { ...deps, limits, tables: [ATTESTATIONS.name, FEEDBACK_FILES.name] };
  await runQueue('feedback files', run, (look) => fetchDueFeedback(deps, look));
}

/** One batch: selects, fetches, writes. */
export async function fetchDueFeedback(deps: FeedbackQueueDeps, look: Look = 'all'): Promise<FetchedBatch> {
  const { config, writer, clock, log, signal } = deps;
  const limits = { ...QUEUE_LIMITS, ...deps.limits };
  const now = (): number => Math.floor(clock.nowMs() / 1_000);
  const beganMs = performance.now();
  const { due, total } = await untilAcknowledged(log, signal, () =>
    readDueFeedback(writer, {
      filesMax: limits.filesPerBatch,
      now: now(),
      since: lookedAtSince(look, clock.nowMs()),
    }),
  );
  const lookedMs = performance.now() - beganMs;
  const rows = collectRows<readonly [DueFeedback, FeedbackOutcome]>(limits, (full) =>
    untilAcknowledged(log, signal, () => saveFeedback(writer, full)),
  );
  const registries = new Map(config.chains.map(({ chain, registries: { identity } }) => [chain, identity]));
  const options = laneOptions(config.identities.fetchConcurrency, signal, limits);
  await runLanes(lanesOf(due), options, async (item, down) => {
    const outcome =
      down === null ? await fetchOne(item, registries.get(item.chain), deps, now) : failed(item, down, now());
    await rows.add([item, outcome]);
    return outcome.status === 'failed' ? outcome.problem : '';
  });
  await rows.finish();
  return { fetched: rows.count(), total, lookedMs };
}

async function fetchOne(
  due: DueFeedback,
  contract: string | undefined,
  { fetcher, signal }: FeedbackQueueDeps,
  now: () => number,
): Promise<FeedbackOutcome> {
  const options = { maxBytes: FEEDBACK_FILE_MAX_BYTES, mediaTypes: FILE_MEDIA_TYPES, signal };
  const document = await fetcher.fetch(due.uri, options);
  if (!document.ok) return failed(due, document.problem, now());
  const file = readFeedbackFile(document.bytes);
  if (typeof file === 'string') return failed(due, file, now());
  const hashMatches = due.fileHash === ZERO_HASH || due.fileHash === hashOf(document.bytes);
  const problem = contradiction(due, file, contract);
  // Words are the client's only in the file that was logged.
  const comment = hashMatches && problem === '' ? file.comment : '';
  // What an earlier fetch found stays: the content at the time of the rating counts.
  const found = due.found ?? { problem, hashMatches, proof: file.proofOfPayment };
  return {
    status: 'good',
    ...found,
    failures: 0,
    nextTryAt: NEVER,
    comment,
    commentRule: COMMENT_RULE,
  };
}

function failed({ uri, failures, found }: DueFeedback, problem: string, now: number): FeedbackOutcome {
  const tries = failures + 1;
  const isOver = tries >= FAILURES_MAX || !isWorthATry(uri, problem);
  const tried = {
    failures: tries,
    nextTryAt: isOver ? NEVER : retryAt(now, tries, FEEDBACK_TIMES),
    comment: '',
  };
  if (found !== null) return { status: 'good', ...found, ...tried, commentRule: isOver ? COMMENT_RULE : 0 };
  return {
    status: 'failed',
    problem,
    hashMatches: false,
    proof: null,
    ...tried,
    commentRule: COMMENT_RULE,
  };
}

/** A missing field contradicts nothing. */
function contradiction(
  { chain, agentId, client }: DueFeedback,
  file: FeedbackFile,
  contract: string | undefined,
): '' | 'other_agent' | 'other_client' {
  const isOtherRegistry =
    file.agentRegistry !== null && contract !== undefined && file.agentRegistry !== `${chain}:${contract}`;
  if (isOtherRegistry || (file.agentId !== null && file.agentId !== agentId)) return 'other_agent';
  return file.client !== null && file.client !== client ? 'other_client' : '';
}

function hashOf(bytes: Uint8Array): string {
  return `0x${Buffer.from(keccak_256(bytes)).toString('hex')}`;
}
