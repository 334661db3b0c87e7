import {
  BLOCK_SOURCES,
  COVERAGE_METHOD,
  DEAD_LETTER_COLUMNS,
  DEAD_LETTER_REASONS,
  KIND_COLUMNS,
  METHOD_COLUMNS,
} from '../coverage.ts';
import { EVIDENCE_METHODS } from '../evidence.ts';
import { SETTLEMENT_KINDS } from '../settlement.ts';
import { chain, column, NAME, type PublicTable } from './column.ts';

/** What was seen of each chain on each UTC day, and what was not read. Counts alone. */

const count = <Name extends string>(name: Name, meaning: string) => column(name, 'UInt64', meaning);
const blocks = <Name extends string>(name: Name, meaning: string) =>
  column(name, 'Nullable(UInt64)', meaning);

export const COVERAGE_DAYS = {
  meaning:
    'What was seen of each chain on each UTC day of which blocks were read: authorizations, rows by kind, evidence and facilitator, logs that became no row, and blocks that are missing.',
  cheapBy: ['day'],
  columns: [
    chain,
    column('day', 'Date', 'UTC day.'),
    count(
      'authorization_count',
      'EIP-3009 authorizations that were used: the rows that they made, of any kind, and those without a transfer (unpaired_authorization_count).',
    ),
    ...SETTLEMENT_KINDS.map((kind) => count(KIND_COLUMNS[kind], `Rows of the kind ${kind}.`)),
    ...EVIDENCE_METHODS.map((method) => count(METHOD_COLUMNS[method], `Rows on the rung ${method}.`)),
    count('named_count', 'Payments that a named facilitator relayed.'),
    column(
      'proposed_count',
      'Nullable(UInt64)',
      'Of unknown_count, those of relayers that are proposed as a facilitator now; NULL until a pass has looked for such relayers.',
    ),
    count('unknown_count', 'All other payments.'),
    ...DEAD_LETTER_REASONS.map((reason) =>
      count(DEAD_LETTER_COLUMNS[reason], `Logs without a row: ${reason}.`),
    ),
    blocks(
      'first_block',
      'First block of the day, reckoned from the nearest row; NULL where no read of its blocks is recorded, as after some imports.',
    ),
    blocks('last_block', 'Last block of the day, likewise; of the present day the newest one.'),
    blocks('indexed_blocks', 'Blocks from first_block to last_block that were read.'),
    blocks(
      'partial_blocks',
      'Blocks from first_block to last_block of which only the transactions of named fee payers were read (Solana).',
    ),
    blocks('missing_blocks', 'Blocks from first_block to last_block that were not read.'),
    column(
      'sources',
      `Array(String)`,
      `How blocks of the chain were read, as far as that is recorded: ${BLOCK_SOURCES.join(', ')}.`,
    ),
    column('method_version', NAME, `Date of the rules by which this is counted: ${COVERAGE_METHOD}.`, [
      COVERAGE_METHOD,
    ]),
  ],
} as const satisfies PublicTable;
