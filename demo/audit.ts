import type { ApiClient, ServedRow } from './api-client.ts';
import type { TrueRow } from './ledger.ts';
import type { NaivePayment } from './solana/naive-reader.ts';

/** The differences between everything that the API serves of a chain and what the chain says. */
export interface Audit {
  readonly served: readonly ServedRow[];
  readonly missing: number;
  readonly extra: number;
  readonly duplicate: number;
  /** Rows at the right place that say something false: parties, amount, time or grade. */
  readonly wrong: number;
  /** The sum of the four. */
  readonly lies: number;
  /** A few of them as text. */
  readonly examples: readonly string[];
}

const PAGE_ROWS = 100;
const EXAMPLES_MAX = 5;

/** What the chains say: receipts of the EVM chain, and balances of Solana. */
export interface Truth {
  readonly evm: readonly TrueRow[];
  readonly solana: readonly NaivePayment[];
}

export interface Audits {
  readonly evm: Audit;
  readonly solana: Audit;
}

/**
 * Walks /transactions of both chains by cursor, newest first, down to their first blocks (older rows are sample data), and compares row by
 * row. `progress` gets the number of rows walked so far.
 */
export async function auditIndex(
  client: Pick<ApiClient, 'transactions'>,
  truth: Truth,
  /** Unix seconds of the chains' first blocks. */
  since: number,
  progress: (rows: number) => void = () => undefined,
): Promise<Audits> {
  const served: ServedRow[] = [];
  for (let before: string | null = null, more = true; more; ) {
    const page = await client.transactions(before, PAGE_ROWS);
    const live = page.transactions.filter(({ block_time: time }) => Date.parse(time) / 1_000 >= since);
    served.push(...live);
    progress(served.length);
    before = page.next_before;
    more = before !== null && live.length === page.transactions.length;
  }
  const isOfSolana = ({ chain }: ServedRow): boolean => chain.startsWith('solana:');
  return {
    evm: compare(
      served.filter((row) => !isOfSolana(row)),
      new Map(truth.evm.map((row) => [`${row.txHash}:${row.logIndex}`, row])),
      { keyOf: (row) => `${row.tx_hash}:${row.log_index}`, blockOf: (row) => row.blockNumber, fieldsOf },
    ),
    // Balances tell who paid whom in a transaction, not by which instruction: of none is there more than one payment of a pair.
    solana: compare(
      served.filter(isOfSolana),
      new Map(truth.solana.map((paid) => [`${paid.signature}:${paid.payer}:${paid.payee}`, paid])),
      {
        keyOf: (row) => `${row.tx_hash}:${row.payer}:${row.payee}`,
        blockOf: (paid) => paid.slot,
        fieldsOf: fieldsOfSolana,
      },
    ),
  };
}

type Fields = readonly (readonly [name: string, is: string | number, should: string | number])[];

interface Comparison<True> {
  readonly keyOf: (row: ServedRow) => string;
  readonly blockOf: (real: True) => number;
  readonly fieldsOf: (served: ServedRow, real: True) => Fields;
}

function compare<True>(
  served: readonly ServedRow[],
  owed: ReadonlyMap<string, True>,
  by: Comparison<True>,
): Audit {
  const seen = new Set<string>();
  const examples: string[] = [];
  const counts = { missing: 0, extra: 0, duplicate: 0, wrong: 0 };
  const note = (kind: keyof typeof counts, text: string): void => {
    counts[kind] += 1;
    if (examples.length < EXAMPLES_MAX) examples.push(`${kind}: ${text}`);
  };
  for (const row of served) {
    const key = by.keyOf(row);
    const real = owed.get(key);
    if (seen.has(key)) note('duplicate', key);
    else if (real === undefined) note('extra', key);
    else {
      const [name, is, should] = by.fieldsOf(row, real).find(([, one, other]) => one !== other) ?? [];
      if (name !== undefined) note('wrong', `${key} ${name} is ${is}, should be ${should}`);
    }
    seen.add(key);
  }
  for (const [key, real] of owed) if (!seen.has(key)) note('missing', `${key} in block ${by.blockOf(real)}`);
  const lies = counts.missing + counts.extra + counts.duplicate + counts.wrong;
  return { served, ...counts, lies, examples };
}

function fieldsOf(served: ServedRow, real: TrueRow): Fields {
  const method = served.evidence.method;
  return [
    ['block_number', served.block_number, real.blockNumber],
    ['block_time', Date.parse(served.block_time) / 1_000, real.blockTime],
    ['payer', served.payer, real.payer],
    ['payee', served.payee, real.payee],
    ['amount', served.amount, real.amount.toString()],
    ['relayer', served.relayer, real.relayer],
    ['kind', served.kind, real.kind],
    ['channel', served.channel ?? '', real.channel ?? ''],
    ['method', method, real.method ?? method],
  ];
}

function fieldsOfSolana(served: ServedRow, real: NaivePayment): Fields {
  const time = Date.parse(served.block_time) / 1_000;
  return [
    ['block_number', served.block_number, real.slot],
    ['block_time', time, real.blockTime ?? time],
    ['amount', served.amount, real.amount.toString()],
    ['relayer', served.relayer, real.feePayer],
    ['kind', served.kind, 'payment'],
  ];
}
