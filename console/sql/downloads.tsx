import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem, isAbort, noteBalance, post, readBody } from '../api.ts';
import { announce, ProblemState } from '../components/states.tsx';
import { bytesText, countText } from '../format.ts';
import type { SqlQuestion } from './query-text.ts';

/** Whole results as files from the API, with up to a million rows. The query runs again and is charged again. */

const DOWNLOADS = [
  { format: 'csv', name: 'CSV' },
  { format: 'parquet', name: 'Parquet' },
  { format: 'arrow', name: 'Arrow' },
  { format: 'ndjson', name: 'NDJSON' },
] as const;
type DownloadFormat = (typeof DOWNLOADS)[number]['format'];

interface Downloaded {
  readonly bytes: number;
  /** Null where the answer is too long for the API to know the count before it sends the headers. */
  readonly rows: number | null;
  readonly chargedQu: number;
  readonly balance: number | null;
}

/** Rejects with an `ApiProblem` or the abort. */
async function download(
  question: SqlQuestion,
  { format, numbers }: { readonly format: DownloadFormat; readonly numbers: 'text' | undefined },
  signal: AbortSignal,
): Promise<Downloaded> {
  const response = await post('/sql', { ...question, format, numbers }, signal);
  const blob = await readBody(response, (whole) => whole.blob());
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

/** The browser reads the blob after the click, so the URL must stay valid for a while. */
const URL_VALID_MS = 60_000;

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const anchor = document.createElement('a');
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), URL_VALID_MS);
}

type DownloadState =
  | { readonly phase: 'idle' }
  | { readonly phase: 'running'; readonly format: DownloadFormat }
  | { readonly phase: 'done'; readonly format: DownloadFormat; readonly file: Downloaded }
  | { readonly phase: 'failed'; readonly problem: ApiProblem };

/** Buttons that download the whole result of the query in the table. */
export function Downloads({ question }: { readonly question: SqlQuestion }) {
  const [state, setState] = useState<DownloadState>({ phase: 'idle' });
  const [asTexts, setAsTexts] = useState(false);
  const current = useRef<AbortController | null>(null);
  useEffect(() => () => current.current?.abort(), []);
  const start = async (format: DownloadFormat): Promise<void> => {
    const mine = new AbortController();
    current.current = mine;
    setState({ phase: 'running', format });
    try {
      const file = await download(question, { format, numbers: asTexts ? 'text' : undefined }, mine.signal);
      if (file.balance !== null) noteBalance(file.balance);
      announce(`${format} downloaded, ${file.chargedQu} Query Units charged`);
      setState({ phase: 'done', format, file });
    } catch (error) {
      if (isAbort(error)) setState({ phase: 'idle' });
      else if (error instanceof ApiProblem) setState({ phase: 'failed', problem: error });
      else throw error;
    }
  };
  const isRunning = state.phase === 'running';
  return (
    <div class="downloads">
      <div class="row">
        <span class="muted small" id="download-note">
          Whole result (runs and charges the query again):
        </span>
        {DOWNLOADS.map(({ format, name }) => (
          <button
            key={format}
            type="button"
            class="button"
            aria-label={`Download ${name}`}
            aria-describedby="download-note"
            disabled={isRunning}
            onClick={() => void start(format)}
          >
            {name}
          </button>
        ))}
        <label
          class="small"
          title="Parquet and Arrow have decimals of 38 digits; as texts, larger numbers keep every digit."
        >
          <input type="checkbox" checked={asTexts} onChange={() => setAsTexts(!asTexts)} />
          wide numbers as texts
        </label>
        {isRunning ? (
          <button type="button" class="button danger" onClick={() => current.current?.abort()}>
            Stop the download
          </button>
        ) : null}
        {state.phase === 'done' ? <DoneText file={state.file} /> : null}
      </div>
      {state.phase === 'failed' ? <ProblemState problem={state.problem} /> : null}
    </div>
  );
}

function DoneText({ file: { bytes, rows, chargedQu } }: { readonly file: Downloaded }) {
  return (
    <span class="small good">
      {rows === null ? '' : `${countText(rows)} rows, `}
      {bytesText(bytes)}, charged {chargedQu} QU
    </span>
  );
}
