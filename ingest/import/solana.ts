import { createReadStream, type ReadStream } from 'node:fs';
import { linesOf, PORTAL_LIMITS } from '../chain/portal/client.ts';
import { record } from '../chain/read-answers.ts';
import { ProviderContradiction, RpcFailure } from '../chain/rpc/failure.ts';
import { decompressed } from '../chain/rpc/post-json.ts';
import type { SolanaBatch, SolanaFilter } from '../chain/solana/block.ts';
import { followBalances } from '../chain/solana/check-balances.ts';
import { type BlockAnswer, blockOf, malformed, readBlock, slot } from '../chain/solana/read-block.ts';
import { checkSlots } from '../chain/solana/slots.ts';
import { isCandidate } from '../decode/solana/shape.ts';
import { createSolanaWindows } from '../follow/solana-windows.ts';
import type { FinishedRange } from '../write/checkpoints.ts';
import { storeBatch } from './group.ts';
import type { ImportDeps, ImportOptions } from './options.ts';
import { withoutRanges } from './plan.ts';
import { importProblems } from './problem.ts';
import { addRows, closeSummary, type ImportSummary, openRun } from './run.ts';

/**
 * Imports whole blocks of Solana from lines of JSON: each is the answer of a node to getBlock, with the slot as its `id`. They pass the checks
 * of blocks that a node is asked for (chain/solana) and become the same rows. Each block names the one before it, so slots are recorded as
 * indexed as far as the blocks of a file follow each other.
 */

/** Decoded, written and recorded together: more than a minute of the chain. Only transactions of listed tokens are kept of them. */
const WINDOW_BLOCKS_MAX = 200;

/** Throws `UserError` for a line that is no such answer, and for blocks that contradict themselves or each other. */
export async function importSolana(
  deps: ImportDeps,
  paths: readonly string[],
  options: ImportOptions,
): Promise<ImportSummary> {
  const { config, grading, progress, signal } = deps;
  let open: SolanaBatch = { from: 0, to: 0, blocks: [] };
  const windows = createSolanaWindows({ config, source: { read: () => Promise.resolve(open) } });
  const { finalBlock, indexed, total, ...run } = await openRun(deps, windows.contracts, options);
  const reading: Reading = {
    filter: { mints: new Set(windows.contracts), isCandidate },
    isTrusted: config.completeness === 'settlement-blocks',
    isWanted(number) {
      if (number > finalBlock) total.notFinal.push({ from: number, to: number });
      return number >= (options.fromBlock ?? 0) && number <= Math.min(options.toBlock ?? number, finalBlock);
    },
  };
  for (const path of paths) {
    const file = createReadStream(path);
    let counted = 0;
    for await (const { endHash, ...batch } of windowsOf(path, file, reading)) {
      signal.throwIfAborted();
      const range = { from: batch.from, to: batch.to };
      if (withoutRanges([range], indexed).length === 0) total.alreadyIndexed.push(range);
      else {
        open = batch;
        const { rowsBy } = await windows.read(range.from, range.to, grading.catalogue());
        const written = await storeBatch({ grading, batches: run.batches }, rowsBy);
        addRows(total, written);
        progress.wrote(written.settlements);
        total.covered.push(range);
        if (!options.dryRun)
          await run.acknowledged(() => run.checkpoints.saveBackfill([{ ...range, endHash }]));
      }
      progress.add(file.bytesRead - counted);
      counted = file.bytesRead;
    }
    progress.add(file.bytesRead - counted);
  }
  return closeSummary(total);
}

/** A block with the time that its rows get. */
type TimedBlock = BlockAnswer & { readonly time: number };

interface Reading {
  readonly filter: SolanaFilter;
  readonly isTrusted: boolean;
  isWanted(number: number): boolean;
}

/** The blocks of a file that follow each other, some at a time. Throws `UserError` that names the line. */
async function* windowsOf(
  path: string,
  file: ReadStream,
  reading: Reading,
): AsyncGenerator<SolanaBatch & FinishedRange> {
  const at = { line: 0 };
  let open: TimedBlock[] = [];
  const close = (): SolanaBatch & FinishedRange => {
    if (!reading.isTrusted) followBalances(open, reading.filter.mints);
    const window = windowWith(open);
    open = [];
    return window;
  };
  try {
    const text = decompressed(file, path.endsWith('.gz') ? 'gzip' : undefined);
    for await (const { isNext, ...block } of blocksOf(
      linesOf(text, PORTAL_LIMITS.lineBytesMax),
      reading,
      at,
    )) {
      if (open.length > 0 && (!isNext || open.length === WINDOW_BLOCKS_MAX)) yield close();
      open.push(block);
    }
    if (open.length > 0) yield close();
  } catch (error) {
    const problem = problemOf(error);
    throw problem === null ? error : importProblems([`${path}, line ${at.line}: ${problem}`]);
  }
}

function windowWith(open: readonly TimedBlock[]): SolanaBatch & FinishedRange {
  const blocks = open.map((block) => blockOf(block, block.time));
  const [first, last] = [blocks[0], blocks.at(-1)];
  if (first === undefined || last === undefined) throw new Error('a window without a block');
  // Every slot between a block and its parent was skipped. Slot 0 is its own parent.
  const from = first.number === 0 ? 0 : first.parentNumber + 1;
  return { from, to: last.number, endHash: last.hash, blocks };
}

/** The blocks of a file, each with whether it follows the one before it. */
async function* blocksOf(
  lines: AsyncIterable<string>,
  { filter, isTrusted, isWanted }: Reading,
  at: { line: number },
): AsyncGenerator<TimedBlock & { readonly isNext: boolean }> {
  let before: TimedBlock | undefined;
  for await (const json of lines) {
    at.line += 1;
    const { id, result } = record(JSON.parse(json), 'line');
    // The error of a skipped slot among others: the next block says whether it was.
    if (result === null || result === undefined) continue;
    const number = slot(id, 'id, which is the slot,');
    if (!isWanted(number)) continue;
    const block = readBlock(result, number, filter, isTrusted);
    before = followed(before, block);
    const time = block.time ?? before?.time;
    if (time === undefined) throw malformed(`slot ${number} has no time, and no block before it is here`);
    const isNext = before !== undefined;
    before = { ...block, time };
    yield { ...before, isNext };
  }
}

/** The block that this one follows; undefined where blocks between them are missing, which is no fault. */
function followed(before: TimedBlock | undefined, block: BlockAnswer): TimedBlock | undefined {
  if (before === undefined) return undefined;
  // A block that names this one as its parent has none before it, whatever slot it says.
  if (block.parentNumber > before.number && block.parentHash !== before.hash) return undefined;
  checkSlots([before, block]);
  return before;
}

/** What is wrong with a file; null for any other error. */
function problemOf(error: unknown): string | null {
  if (error instanceof SyntaxError) return 'no whole JSON';
  if (error instanceof ProviderContradiction || error instanceof RpcFailure) return error.message;
  const isDamaged = error instanceof Error && 'code' in error && String(error.code).startsWith('Z_');
  return isDamaged ? 'no whole gzip behind it' : null;
}
