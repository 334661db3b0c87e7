import { randomBytes } from 'node:crypto';
import type { Address } from '../../core/domain/account.ts';
import { chainIdOf } from '../../core/domain/chains.ts';
import { decodeContextOf } from '../decode/context.ts';
import { emittersOf } from '../decode/log-kind.ts';
import { loadCounters } from '../follow/status-report.ts';
import { type BatchWriter, createBatchWriter, untilAcknowledged } from '../write/batch-writer.ts';
import {
  type BlockRange,
  type Checkpoints,
  contractsName,
  countBlocks,
  createCheckpoints,
  mergeRanges,
} from '../write/checkpoints.ts';
import { type ImportFile, missingFacts } from './files.ts';
import { type GroupRun, importGroup, type RowCounts } from './group.ts';
import type { LoadTarget } from './load.ts';
import type { ImportDeps, ImportOptions } from './options.ts';
import {
  type Bounds,
  boundsOf,
  clipRanges,
  declaredRanges,
  type FileGroup,
  formatRanges,
  groupFiles,
  spanOf,
  withoutRanges,
} from './plan.ts';
import { importProblems } from './problem.ts';
import { createStaging, dropStaging, dropStaleStaging } from './staging.ts';

export interface ImportSummary extends RowCounts {
  /** Now recorded as indexed: the RPC backfill will not read them. */
  readonly covered: readonly BlockRange[];
  /** Imported, but nothing proves that the files hold them whole: the RPC backfill reads them again. */
  readonly unproven: readonly BlockRange[];
  /** Left out by `skipIncomplete`. */
  readonly incomplete: readonly BlockRange[];
  readonly alreadyIndexed: readonly BlockRange[];
  /** Left to the live head. */
  readonly notFinal: readonly BlockRange[];
}

/** Random bytes in the names of a run's tables. */
const RUN_BYTES = 4;

/**
 * Imports files as the RPC path would have indexed their blocks. Group by group of files: into staging tables, there cut down to
 * transactions with candidates, then window by window decoded, graded, written, and recorded as covered. Repeating it, also
 * after a crash, changes nothing; windows that are recorded are skipped. Throws `UserError` for what the user must correct.
 */
export async function runImport(
  deps: ImportDeps,
  files: readonly ImportFile[],
  options: ImportOptions,
): Promise<ImportSummary> {
  const { config, grading, writer, log, signal } = deps;
  const problems = missingFacts(files);
  if (problems.length > 0) throw importProblems(problems);
  const declared = declaredRanges(files, options);
  const catalogue = grading.catalogue();
  const context = decodeContextOf(config, catalogue);
  const { finalBlock, indexed, total, ...open } = await openRun(deps, emittersOf(context), options);
  const stale = await dropStaleStaging(writer);
  if (stale > 0) log.info({ tables: stale }, 'dropped the tables of an import that was killed');
  const payees = catalogue.payees.filter(({ chain }) => chain === config.chain).map(({ address }) => address);
  const staging = await createStaging(writer, randomBytes(RUN_BYTES).toString('hex'), payees);
  const target: LoadTarget = { chainId: chainIdOf(config.chain), context, staging };
  const run: GroupRun = { ...deps, ...open, options, context, target, seen: new Set() };
  try {
    for (const { group, extent } of extentsOf(files, deps.limits?.logsPerGroup)) {
      signal.throwIfAborted();
      const wanted = wantedRanges(group, extent, declared, options);
      const final = clipRanges(wanted, boundsOf(0, finalBlock));
      const todo = withoutRanges(final, indexed);
      total.notFinal.push(...withoutRanges(wanted, final));
      total.alreadyIndexed.push(...withoutRanges(final, todo));
      const done = await importGroup(run, group, todo, declared !== null);
      addRows(total, done);
      total.covered.push(...done.covered);
      total.unproven.push(...done.unproven);
      total.incomplete.push(...done.incomplete);
    }
  } finally {
    await dropStaging(writer, staging);
  }
  return closeSummary(total);
}

/** What imports of every kind of file begin with: the final block, the ranges that are indexed already, and where rows go. */
export async function openRun(deps: ImportDeps, contracts: readonly Address[], options: ImportOptions) {
  const { config, writer, versions, log, signal } = deps;
  const { chain } = config;
  const checkpoints = createCheckpoints({ chain, contracts: contractsName(contracts) }, writer, versions);
  const batches: BatchWriter = options.dryRun
    ? { write: () => Promise.resolve() }
    : createBatchWriter({ chain, writer, versions, log, signal });
  return {
    finalBlock: await finalBlockOf(deps, options),
    ...{ checkpoints, batches, indexed: await indexedRanges(checkpoints), total: emptySummary() },
    acknowledged: <T>(attempt: () => Promise<T>): Promise<T> => untilAcknowledged(log, signal, attempt),
  };
}

export function addRows(total: OpenSummary, { settlements, registryEvents, deadLetters }: RowCounts): void {
  total.settlements += settlements;
  total.registryEvents += registryEvents;
  total.deadLetters += deadLetters;
}

export function closeSummary(total: OpenSummary): ImportSummary {
  return {
    ...total,
    covered: mergeRanges(total.covered),
    unproven: mergeRanges(total.unproven),
    incomplete: mergeRanges(total.incomplete),
    alreadyIndexed: mergeRanges(total.alreadyIndexed),
    notFinal: mergeRanges(total.notFinal),
  };
}

export interface OpenSummary {
  settlements: number;
  registryEvents: number;
  deadLetters: number;
  readonly covered: BlockRange[];
  readonly unproven: BlockRange[];
  readonly incomplete: BlockRange[];
  readonly alreadyIndexed: BlockRange[];
  readonly notFinal: BlockRange[];
}

function emptySummary(): OpenSummary {
  return {
    settlements: 0,
    registryEvents: 0,
    deadLetters: 0,
    covered: [],
    unproven: [],
    incomplete: [],
    alreadyIndexed: [],
    notFinal: [],
  };
}

/**
 * Imported rows are never retracted, so they may only come from blocks that cannot be undone. What the chain calls
 * final is known from the last time that ingest looked.
 */
async function finalBlockOf({ config, writer }: ImportDeps, { assumeFinal }: ImportOptions): Promise<number> {
  if (assumeFinal) return Number.MAX_SAFE_INTEGER;
  const { finalizedBlock } = await loadCounters(writer, config.chain);
  if (finalizedBlock > 0) return finalizedBlock;
  throw importProblems([
    `which blocks of ${config.facts.slug} are final is not known, because this index has never followed the chain, and a block that is undone after its import would leave false rows. Start the service for a moment first, or pass --assume-final if the newest block of the files is old enough`,
  ]);
}

async function indexedRanges(checkpoints: Checkpoints): Promise<BlockRange[]> {
  const { head, backfilled } = await checkpoints.load();
  return mergeRanges([...backfilled, ...(head ? [{ from: head.start, to: head.end }] : [])]);
}

/** Each group with the blocks up to the next one, so that blocks without any log belong to a group as well. */
function extentsOf(
  files: readonly ImportFile[],
  logsPerGroup: number | undefined,
): { group: FileGroup; extent: BlockRange }[] {
  const groups = groupFiles(files, logsPerGroup);
  const all: readonly FileGroup[] =
    groups.length > 0 ? groups : [{ blocks: boundsOf(null, null), files: [] }];
  return all.map((group, index) => ({
    group,
    extent: boundsOf(
      index === 0 ? 0 : (all[index - 1]?.blocks.to ?? 0) + 1,
      index === all.length - 1 ? null : group.blocks.to,
    ),
  }));
}

/** Without a declaration, everything that the log files hold is imported, and the reading shows which blocks they cover. */
function wantedRanges(
  group: FileGroup,
  extent: BlockRange,
  declared: readonly BlockRange[] | null,
  { fromBlock, toBlock }: Bounds,
): BlockRange[] {
  if (declared !== null) return clipRanges(declared, extent);
  const logs = spanOf(group.files, 'logs');
  return logs === null ? [] : clipRanges([logs], boundsOf(fromBlock, toBlock));
}

/** The summary in words, one line each. */
export function summaryLines(summary: ImportSummary, dryRun: boolean): string[] {
  const {
    settlements,
    registryEvents,
    deadLetters,
    covered,
    unproven,
    incomplete,
    alreadyIndexed,
    notFinal,
  } = summary;
  const rangeLine = (ranges: readonly BlockRange[], text: string): string[] =>
    ranges.length === 0 ? [] : [`${countBlocks(ranges)} blocks ${text}: ${formatRanges(ranges)}`];
  return [
    `${settlements} settlements, ${registryEvents} registry events and ${deadLetters} dead letters ${dryRun ? 'would be written' : 'written'}`,
    ...rangeLine(covered, dryRun ? 'would be recorded as indexed' : 'are now recorded as indexed'),
    ...rangeLine(
      unproven,
      'are not recorded as indexed, so the RPC backfill reads them again: nothing proves that the files hold every log of them (--all-contracts, --from-block and --to-block say so, see docs/import.md)',
    ),
    ...rangeLine(
      incomplete,
      'were left out, because the files lack some of their transactions, times or hashes',
    ),
    ...rangeLine(alreadyIndexed, 'were indexed already and skipped'),
    ...rangeLine(notFinal, 'are not final yet and left to the live head'),
  ];
}
