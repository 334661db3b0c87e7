import type { Reader } from '../../../clickhouse/engine/engine.ts';
import type { ChainConfig } from '../../../core/config/config.ts';
import { Failure } from '../../../core/errors.ts';
import { type ChainStatus, isImported, readChainStatus } from '../../operations/index-state/chain-status.ts';
import { chainFreshness, INDEX_LAG_WARNING_SECONDS } from '../../operations/index-state/freshness.ts';
import { type Finding, failure, ok, skipped, warning } from './finding.ts';

/** How far the index is, as ingest last reported it. */

/** Ingest reports every two seconds. */
const SILENT_AFTER_SECONDS = 60;

export function judgeChain(
  { chain, facts: { slug } }: Pick<ChainConfig, 'chain' | 'facts'>,
  status: ChainStatus | undefined,
  nowMs: number,
): Finding {
  if (status === undefined)
    return warning('index', `${slug} was never reported`, 'Start the service with the role all or ingest.');
  if (status.state === 'stopped')
    return failure(
      'index',
      `${slug} is stopped (${status.lastError})`,
      'It waits for you: docs/operators.md, "Chains and nodes", says what the code means.',
    );
  const silentSeconds = Math.floor(nowMs / 1_000) - (status.updatedAt ?? 0);
  if (silentSeconds > SILENT_AFTER_SECONDS)
    return warning(
      'index',
      `${slug} was last reported ${silentSeconds} s ago: no ingest runs, or it cannot write`,
      'Start it, or look into its log.',
    );
  if (isImported(status)) return ok('index', `${slug} has no node and holds what was imported`);
  const { lagSeconds } = chainFreshness(chain, status, nowMs);
  if (lagSeconds === null || lagSeconds > INDEX_LAG_WARNING_SECONDS || status.state === 'unreachable')
    return warning(
      'index',
      `${slug} is ${status.state}, ${lagSeconds === null ? 'nothing indexed yet' : `${lagSeconds} s behind`}`,
      'Look at its RPC URLs above; a backfill goes on by itself.',
    );
  return ok('index', `${slug} is ${status.state}, ${lagSeconds} s behind`);
}

export async function checkIndex(
  reader: Reader,
  chains: readonly ChainConfig[],
  nowMs: () => number,
): Promise<readonly Finding[]> {
  try {
    const statuses = await readChainStatus(reader);
    return chains.map((chain) => judgeChain(chain, statuses.get(chain.chain), nowMs()));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [skipped('index', 'there are no tables yet, or the engine does not answer')];
  }
}
