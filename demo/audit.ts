import type { ApiClient, ServedRow } from './api-client.ts';
import type { TrueRow } from './ledger.ts';

/** The differences between everything that the API serves and the chain's receipts. */
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

/**
 * Walks /transactions by cursor, newest first, down to the chain's first block (older rows are sample data), and compares row by
 * row. `progress` gets the number of rows walked so far.
 */
export async function auditIndex(
  client: ApiClient,
  truth: readonly TrueRow[],
  /** Unix seconds of the chain's first block. */
  since: number,
  progress: (rows: number) => void = () => undefined,
): Promise<Audit> {
  const served: ServedRow[] = [];
  for (let before: string | null = null, more = true; more; ) {
    const page = await client.transactions(before, PAGE_ROWS);
    const live = page.transactions.filter(({ block_time: time }) => Date.parse(time) / 1_000 >= since);
    served.push(...live);
    progress(served.length);
    before = page.next_before;
    more = before !== null && live.length === page.transactions.length;
  }
  return compare(served, truth);
}

function compare(served: readonly ServedRow[], truth: readonly TrueRow[]): Audit {
  const owed = new Map(truth.map((row) => [`${row.txHash}:${row.logIndex}`, row]));
  const seen = new Set<string>();
  const examples: string[] = [];
  const counts = { missing: 0, extra: 0, duplicate: 0, wrong: 0 };
  const note = (kind: keyof typeof counts, text: string): void => {
    counts[kind] += 1;
    if (examples.length < EXAMPLES_MAX) examples.push(`${kind}: ${text}`);
  };
  for (const row of served) {
    const key = `${row.tx_hash}:${row.log_index}`;
    const real = owed.get(key);
    if (seen.has(key)) note('duplicate', key);
    else if (real === undefined) note('extra', key);
    else {
      const difference = differenceOf(row, real);
      if (difference !== null) note('wrong', `${key} ${difference}`);
    }
    seen.add(key);
  }
  for (const [key, row] of owed) if (!seen.has(key)) note('missing', `${key} in block ${row.blockNumber}`);
  const lies = counts.missing + counts.extra + counts.duplicate + counts.wrong;
  return { served, ...counts, lies, examples };
}

function differenceOf(served: ServedRow, real: TrueRow): string | null {
  const method = served.evidence.method;
  const fields: readonly (readonly [string, string | number, string | number])[] = [
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
  const found = fields.find(([, is, should]) => is !== should);
  return found === undefined ? null : `${found[0]} is ${found[1]}, should be ${found[2]}`;
}
