import { post, readWhole } from '../api.ts';
import type { SqlQuestion } from './wire.ts';

/** Whole results as files, written by the API: up to a million rows, and every digit. The query runs again and is charged again. */

export const DOWNLOADS = [
  { format: 'csv', name: 'CSV' },
  { format: 'parquet', name: 'Parquet' },
  { format: 'arrow', name: 'Arrow' },
  { format: 'ndjson', name: 'NDJSON' },
] as const;
export type DownloadFormat = (typeof DOWNLOADS)[number]['format'];

export interface Downloaded {
  readonly bytes: number;
  /** Null where the answer was too long for its headers to say. */
  readonly rows: number | null;
  readonly chargedQu: number;
  readonly balance: number | null;
}

/** Rejects with an `ApiProblem`, or the abort. */
export async function download(
  question: SqlQuestion,
  format: DownloadFormat,
  signal: AbortSignal,
): Promise<Downloaded> {
  const response = await post('/sql', { ...question, format }, signal);
  const blob = await readWhole(response, (whole) => whole.blob());
  save(blob, `settlement-index-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.${format}`);
  const { headers } = response;
  return {
    bytes: blob.size,
    rows: numberOf(headers.get('x-row-count')),
    chargedQu: numberOf(headers.get('x-units-charged')) ?? 0,
    balance: numberOf(headers.get('x-units-balance')),
  };
}

function numberOf(header: string | null): number | null {
  return header === null ? null : Number(header);
}

/** The browser reads the file from the page after the click. */
const KEPT_MS = 60_000;

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const anchor = document.createElement('a');
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
