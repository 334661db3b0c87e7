import { InvalidArgumentError, Option } from 'commander';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import type { ChainConfig } from '../../core/config/chains.ts';
import type { Log } from '../../core/log.ts';
import type { Versions } from '../write/versions.ts';
import type { Grading } from './grading.ts';
import type { Bounds } from './plan.ts';

/** How the command is written on the command line. */

/** The options of the command line, as commander gives them. */
export interface ImportArguments {
  readonly chain?: string;
  readonly parquet?: readonly string[];
  readonly logs?: readonly string[];
  readonly transactions?: readonly string[];
  readonly blocks?: readonly string[];
  readonly fromBlock?: number;
  readonly toBlock?: number;
  readonly skipIncomplete?: boolean;
  readonly assumeFinal?: boolean;
  readonly allContracts?: boolean;
  readonly dryRun?: boolean;
}

const FILES = '<patterns...>';

export const IMPORT_OPTIONS: readonly Option[] = [
  new Option('--chain <name>', 'chain of the files; may be left out where one chain is configured'),
  new Option(`--parquet ${FILES}`, 'files of logs, transactions and blocks, recognised by their columns'),
  new Option(`--logs ${FILES}`, 'files of logs'),
  new Option(`--transactions ${FILES}`, 'files of transactions'),
  new Option(
    `--blocks ${FILES}`,
    'files of blocks: times and hashes; of Solana: answers of getBlock, a line each, which hold all',
  ),
  new Option('--from-block <number>', 'first block that the files hold whole').argParser(blockNumber),
  new Option('--to-block <number>', 'last block that the files hold whole').argParser(blockNumber),
  new Option('--skip-incomplete', 'leave out blocks that are incomplete in the files'),
  new Option('--assume-final', 'no block of the files can be undone any more'),
  new Option(
    '--all-contracts',
    'the export holds the logs of every configured contract, also where there are none',
  ),
  new Option('--dry-run', 'read and decode everything, write nothing'),
];

export const IMPORT_HELP = `
Columns that are understood, and what is recorded as indexed: docs/import.md
Example: settlement-index import --chain base --parquet 'export/*.parquet'`;

function blockNumber(text: string): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(number)) throw new InvalidArgumentError('not a block number.');
  return number;
}

export interface ImportOptions extends Bounds {
  /** Leaves out blocks that are incomplete in the files, and does not record them as covered. */
  readonly skipIncomplete: boolean;
  /** The user asserts that every block of the files is final. */
  readonly assumeFinal: boolean;
  /** The user asserts that the export covers every configured contract, although some have no logs in it. */
  readonly allContracts: boolean;
  /** Reads and decodes everything and writes nothing. */
  readonly dryRun: boolean;
}

export interface ImportDeps {
  readonly config: ChainConfig;
  readonly grading: Grading;
  readonly writer: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly progress: ImportProgress;
  /** Sizes of groups and windows; both have defaults. Tests make them small. */
  readonly limits?: { readonly logsPerGroup: number; readonly candidatesPerWindow: number };
}

/** Progress of an import, counted in logs of its files, of Solana in their bytes. */
export interface ImportProgress {
  /** Reports what was processed since the last call. */
  add(count: number): void;
  wrote(settlements: number): void;
  line(): string;
}

export function createImportProgress(
  total: number,
  {
    unit = 'logs',
    nowMs = Date.now,
  }: { readonly unit?: 'logs' | 'bytes'; readonly nowMs?: () => number } = {},
): ImportProgress {
  const began = nowMs();
  let done = 0;
  let settlements = 0;
  return {
    add(count) {
      done += count;
    },
    wrote(count) {
      settlements += count;
    },
    line() {
      const seconds = Math.max(0.001, (nowMs() - began) / 1_000);
      const perSecond = done / seconds;
      // Shares of a group add up to all but for a rounding.
      const share = done + 1 >= total ? 1 : done / total;
      const eta = perSecond > 0 ? `${Math.ceil(Math.max(0, total * (1 - share)) / perSecond)} s` : 'unknown';
      return `import ${(100 * share).toFixed(1)} %, ${Math.round(perSecond)} ${unit}/s, ${settlements} settlements, ETA ${eta}`;
    },
  };
}
