import type { TestApi } from './api.ts';

/** A caller who keeps a copy of a list the way the guide says, docs/copies.md. */
export interface Poller {
  /** Reads the whole list, newest first. */
  start(): Promise<void>;
  /** Asks once for new rows; answers whether more is waiting. */
  poll(): Promise<boolean>;
  /** Rows by what makes them unique. */
  readonly copy: ReadonlyMap<string, Record<string, unknown>>;
  cursor(): string;
}

const keyOf = (row: Record<string, unknown>): string =>
  `${row['chain']}/${row['tx_hash']}/${row['log_index']}`;

export function createPoller(
  api: Pick<TestApi, 'get'>,
  path: string,
  { query = '', limit = 100 }: { readonly query?: string; readonly limit?: number } = {},
): Poller {
  const copy = new Map<string, Record<string, unknown>>();
  let cursor = '';
  const page = async (at: string) => {
    const { status, body, text } = await api.get(`${path}?limit=${limit}${query}${at}`);
    if (status !== 200) throw new Error(`${status}: ${text}`);
    for (const gone of body.retracted ?? []) copy.delete(keyOf(gone));
    const rows = body.flows ?? body.transactions ?? body.settlements;
    if (rows.length > limit) throw new Error(`a page of ${rows.length} rows for limit ${limit}`);
    for (const row of rows) copy.set(keyOf(row), row);
    return body;
  };
  return {
    copy,
    cursor: () => cursor,
    async start() {
      copy.clear();
      let body = await page('');
      cursor = body.prev_after;
      while (body.next_before !== null) body = await page(`&before=${body.next_before}`);
    },
    async poll() {
      const body = await page(`&after=${cursor}`);
      cursor = body.prev_after;
      return body.has_more;
    },
  };
}
