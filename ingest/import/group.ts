import { ZERO_HASH } from '../../core/domain/account.ts';
import { runPool } from '../../core/process/pool.ts';
import type { BlockBatch } from '../chain/block-source.ts';
import { rowsOfBatch } from '../decode/batch.ts';
import type { DecodeContext } from '../decode/context.ts';
import { emittersOf, TOPIC } from '../decode/log-kind.ts';
import type { Catalogue } from '../grading/catalogue.ts';
import type { BatchRows } from '../write/batch-rows.ts';
import type { BatchWriter } from '../write/batch-writer.ts';
import type { BlockRange, Checkpoints } from '../write/checkpoints.ts';
import type { FileKind } from './columns.ts';
import type { ImportFile } from './files.ts';
import { EVENT_CODES, emitterCodes, type LoadTarget, loadFile } from './load.ts';
import type { ImportDeps, ImportOptions } from './options.ts';
import { commonRanges, cutWindows, type FileGroup, formatRanges, withoutRanges } from './plan.ts';
import { importProblems } from './problem.ts';
import {
  emptyStaging,
  readBlockRuns,
  readHashes,
  readSeenCodes,
  readStagedBlocks,
  type StagedBlock,
} from './staging.ts';
import { readWindow, type StagedWindow } from './window.ts';

/** What stays the same from group to group. */
export interface GroupRun extends ImportDeps {
  readonly options: ImportOptions;
  readonly context: DecodeContext;
  readonly target: LoadTarget;
  readonly batches: BatchWriter;
  readonly checkpoints: Checkpoints;
  readonly acknowledged: <T>(attempt: () => Promise<T>) => Promise<T>;
  /** Codes of contracts and events seen so far. */
  readonly seen: Set<string>;
}

/** Rows written. */
export interface RowCounts {
  readonly settlements: number;
  /** Events of ERC-8004 registries, attestations among them. */
  readonly registryEvents: number;
  readonly deadLetters: number;
}

export interface GroupResult extends RowCounts {
  readonly covered: readonly BlockRange[];
  readonly unproven: readonly BlockRange[];
  readonly incomplete: readonly BlockRange[];
}

/** Files that the engine reads at once; more only compete for its cores. */
const PARALLEL_LOADS = 2;
/** Of a group's time, about what reading its files takes; only the progress line depends on it. */
const LOADING_SHARE = 0.5;

/** Imports the ranges `todo` of one group. Everything is staged and checked before the first row is written. */
export async function importGroup(
  run: GroupRun,
  group: FileGroup,
  todo: readonly BlockRange[],
  isDeclared: boolean,
): Promise<GroupResult> {
  const { options, progress, target, writer } = run;
  const logs = group.files.reduce((sum, { kind, rows }) => sum + (kind === 'logs' ? rows : 0), 0);
  const first = todo[0];
  const last = todo.at(-1);
  if (first === undefined || last === undefined) {
    progress.add(logs);
    return { settlements: 0, registryEvents: 0, deadLetters: 0, covered: [], unproven: [], incomplete: [] };
  }
  await stageFiles(run, group, { from: first.from, to: last.to });
  const blocks = (await readStagedBlocks(writer, target.staging)).filter(isInside(todo));
  const incomplete = incompleteBlocks(blocks, options.skipIncomplete);
  const work = withoutRanges(todo, incomplete);
  const provable = await provenRanges(run, group, work, isDeclared);
  const windows = cutWindows(work, blocks, run.limits?.candidatesPerWindow);
  const parts = windows.map((window) => ({ window, covered: commonRanges([window], provable) }));
  const hashes = await readHashes(
    writer,
    target.staging,
    parts.flatMap(({ covered }) => covered.map(({ to }) => to)),
  );
  const known = new Map([...blocks.map(({ number, hash }) => [number, hash] as const), ...hashes]);
  const counts = { settlements: 0, registryEvents: 0, deadLetters: 0 };
  const store = async (batch: BlockBatch, covered: readonly BlockRange[]): Promise<void> => {
    const written = await storeBatch(run, (catalogue) => rowsOfBatch(batch, run.context, catalogue));
    counts.settlements += written.settlements;
    counts.registryEvents += written.registryEvents;
    counts.deadLetters += written.deadLetters;
    progress.wrote(written.settlements);
    progress.add((logs * (1 - LOADING_SHARE)) / windows.length);
    if (covered.length === 0 || options.dryRun) return;
    const finished = covered.map((range) => ({ ...range, endHash: known.get(range.to) ?? ZERO_HASH }));
    await run.acknowledged(() => run.checkpoints.saveBackfill(finished));
  };
  await storeWindows(run, parts, store);
  await emptyStaging(writer, target.staging);
  const covered = parts.flatMap((part) => part.covered);
  return { ...counts, covered, unproven: withoutRanges(work, covered), incomplete };
}

/** Decodes, grades and writes a batch; again when the catalogue changed before its rows were acknowledged. */
export async function storeBatch(
  { grading, batches }: Pick<GroupRun, 'grading' | 'batches'>,
  rowsBy: (catalogue: Catalogue) => BatchRows,
): Promise<RowCounts> {
  for (;;) {
    const rows = rowsBy(grading.catalogue());
    await batches.write(rows);
    if (await grading.isStillTrue())
      return {
        settlements: rows.settlements.length,
        registryEvents: rows.agentEvents.length + rows.attestations.length,
        deadLetters: rows.deadLetters.length,
      };
  }
}

/** The next window is read while the one before is decoded and written: two of them are in memory, never more. */
async function storeWindows(
  run: GroupRun,
  parts: readonly { readonly window: StagedWindow; readonly covered: readonly BlockRange[] }[],
  store: (batch: BlockBatch, covered: readonly BlockRange[]) => Promise<void>,
): Promise<void> {
  const emitters = emitterCodes(run.context);
  let storing: Promise<void> = Promise.resolve();
  for (const { window, covered } of parts) {
    run.signal.throwIfAborted();
    const reading = readWindow(run.writer, run.target.staging, emitters, window);
    const [batch] = await Promise.all([reading, storing]);
    storing = store(batch, covered);
    storing.catch(() => undefined); // awaited one turn later
  }
  await storing;
}

/** Logs first: which transactions and blocks are wanted is known from them. */
async function stageFiles(run: GroupRun, group: FileGroup, range: BlockRange): Promise<void> {
  for (const kind of ['logs', 'transactions', 'blocks'] as const satisfies readonly FileKind[]) {
    const files = group.files.filter((file) => file.kind === kind && overlaps(file, range));
    await runPool(files, { width: PARALLEL_LOADS, signal: run.signal }, async (file) => {
      await loadFile(run.writer, run.target, file, range);
      if (kind === 'logs') run.progress.add(file.rows * LOADING_SHARE);
    });
  }
}

function overlaps({ blocks }: ImportFile, { from, to }: BlockRange): boolean {
  return blocks === null || (blocks.from <= to && blocks.to >= from);
}

function isInside(ranges: readonly BlockRange[]): (block: StagedBlock) => boolean {
  let at = 0;
  return ({ number }) => {
    while ((ranges[at]?.to ?? Number.POSITIVE_INFINITY) < number) at++;
    return (ranges[at]?.from ?? Number.POSITIVE_INFINITY) <= number;
  };
}

/** Throws for blocks that the files do not hold whole, unless they may be skipped; contradictions are never skipped. */
function incompleteBlocks(blocks: readonly StagedBlock[], skip: boolean): BlockRange[] {
  const problems: string[] = [];
  const report = (some: readonly StagedBlock[], what: (ranges: string) => string): void => {
    if (some.length > 0) problems.push(what(formatRanges(rangesOf(some))));
  };
  report(
    blocks.filter(({ isContradicted }) => isContradicted),
    (at) => `the files name two different hashes for one block: they are of two forks (${at})`,
  );
  if (problems.length > 0) throw importProblems(problems);
  const withoutTransactions = blocks.filter(({ missingTransactions }) => missingTransactions > 0);
  const missing = withoutTransactions.reduce((sum, { missingTransactions }) => sum + missingTransactions, 0);
  const withoutHash = blocks.filter(({ hash }) => hash === ZERO_HASH);
  const withoutTime = blocks.filter(({ time }) => time === 0);
  if (!skip) {
    report(
      withoutTransactions,
      (at) =>
        `${missing} transactions with payments, in ${withoutTransactions.length} blocks, are in no file of transactions (${at}). Add the files of these blocks, or pass --skip-incomplete to leave the blocks out`,
    );
    report(
      withoutHash,
      (at) =>
        `${withoutHash.length} blocks with payments have a hash in no file (${at}). Add the blocks files, or pass --skip-incomplete`,
    );
    report(
      withoutTime,
      (at) =>
        `${withoutTime.length} blocks with payments have a time in no file (${at}). Add the blocks files, or pass --skip-incomplete`,
    );
    if (problems.length > 0) throw importProblems(problems);
  }
  return rangesOf(
    blocks.filter(
      ({ missingTransactions, hash, time }) => missingTransactions > 0 || hash === ZERO_HASH || time === 0,
    ),
  );
}

function rangesOf(blocks: readonly StagedBlock[]): BlockRange[] {
  return blocks.map(({ number }) => ({ from: number, to: number }));
}

/**
 * Which ranges may be recorded as indexed: those declared, else the spans of log files in which the blocks files hold every
 * block; and in both cases only where the export was not made for fewer contracts than are configured.
 */
async function provenRanges(
  run: GroupRun,
  group: FileGroup,
  work: readonly BlockRange[],
  isDeclared: boolean,
): Promise<readonly BlockRange[]> {
  const { writer, target } = run;
  if (!(await holdsAllContracts(run))) return [];
  if (isDeclared) return work;
  const spans = group.files.flatMap(({ kind, blocks, rows }) =>
    kind === 'logs' && blocks && rows > 0 ? [blocks] : [],
  );
  return commonRanges(commonRanges(work, spans), await readBlockRuns(writer, target.staging));
}

/**
 * An export of some contracts or events looks like one of all, except that it holds nothing else. So it counts as whole when it
 * holds other contracts and other events than those asked for, when every configured contract and both events of each token
 * were seen, or when the user says so.
 */
async function holdsAllContracts({ writer, target, options, context, seen }: GroupRun): Promise<boolean> {
  for (const code of await readSeenCodes(writer, target.staging)) seen.add(code);
  const codes = [...seen];
  const isUnfiltered =
    codes.some((code) => code.startsWith('0 ')) && codes.some((code) => code.endsWith(' 0'));
  return options.allContracts || isUnfiltered || missingContracts(context, seen).length === 0;
}

/** What was configured and never seen, in words. */
export function missingContracts(context: DecodeContext, seen: ReadonlySet<string>): string[] {
  const code = (event: string): number => EVENT_CODES.indexOf(event) + 1;
  return emittersOf(context).flatMap((address, index) => {
    const wanted = context.tokens.has(address)
      ? [`${index + 1} ${code(TOPIC.transfer)}`, `${index + 1} ${code(TOPIC.authorizationUsed)}`]
      : [];
    const isSeen =
      wanted.length > 0
        ? wanted.every((each) => seen.has(each))
        : [...seen].some((each) => each.startsWith(`${index + 1} `));
    return isSeen ? [] : [address];
  });
}
