import { InvalidArgumentError, Option } from 'commander';

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
  new Option(`--parquet ${FILES}`, 'files of logs, transactions and blocks, told apart by their columns'),
  new Option(`--logs ${FILES}`, 'files of logs'),
  new Option(`--transactions ${FILES}`, 'files of transactions'),
  new Option(`--blocks ${FILES}`, 'files of blocks: times and hashes'),
  new Option('--from-block <number>', 'first block that the files hold whole').argParser(blockNumber),
  new Option('--to-block <number>', 'last block that the files hold whole').argParser(blockNumber),
  new Option('--skip-incomplete', 'leave out blocks of which the files lack something'),
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
