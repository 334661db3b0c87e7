import type { SqlWarning } from './wire.ts';

/** What the headers of an answer in lines or files say beside its rows. Source: docs/sql.md. */

export interface SqlFacts {
  /** Engine time, milliseconds. */
  readonly durationMs: number;
  readonly rowsRead: number;
  /** Uncompressed. */
  readonly bytesRead: number;
  readonly memoryBytes: number;
  readonly queryTier: string;
  readonly unitsHeld: number;
  readonly unitsCharged: number;
  /** Query Units that the organization has left; null where the call was paid for over x402. */
  readonly balance: number | null;
  /** RFC 3339, UTC. */
  readonly asOf: string;
  readonly warnings: readonly SqlWarning[];
  /** The text that ran; null where it is longer than a header may be. */
  readonly sql: string | null;
  /** Null where only the end of a long answer tells, in trailers, which `fetch` does not show. */
  readonly rowCount: number | null;
  /** Null like `rowCount`. */
  readonly truncated: boolean | null;
}

export function factsOf(headers: Headers): SqlFacts {
  const number = (name: string): number => Number(headers.get(name) ?? 0);
  const optional = (name: string): number | null => (headers.has(name) ? number(name) : null);
  const truncated = headers.get('x-truncated');
  const sql = headers.get('x-sql');
  return {
    durationMs: number('x-duration-ms'),
    rowsRead: number('x-rows-read'),
    bytesRead: number('x-bytes-read'),
    memoryBytes: number('x-memory-bytes'),
    queryTier: headers.get('x-query-tier') ?? '',
    unitsHeld: number('x-units-held'),
    unitsCharged: number('x-units-charged'),
    balance: optional('x-units-balance'),
    asOf: headers.get('x-as-of') ?? '',
    warnings: JSON.parse(headers.get('x-warnings') ?? '[]'),
    sql: sql === null ? null : decodeURIComponent(sql),
    rowCount: optional('x-row-count'),
    truncated: truncated === null ? null : truncated === 'true',
  };
}
