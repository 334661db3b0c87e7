import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem, callApi, isAbort, readBody, segment } from '../api.ts';
import { announce, ProblemState } from '../components/states.tsx';
import { bytesText, countText } from '../format.ts';
import { saveFile } from '../save-file.ts';

/** The kept result as a file, in any format and as often as wanted: it was paid for by its run. */

const DOWNLOADS = [
  { format: 'csv', name: 'CSV' },
  { format: 'parquet', name: 'Parquet' },
  { format: 'arrow', name: 'Arrow' },
  { format: 'ndjson', name: 'NDJSON' },
] as const;
type DownloadFormat = (typeof DOWNLOADS)[number]['format'];

interface Downloaded {
  readonly bytes: number;
  /** Null where a proxy took the header away. */
  readonly rows: number | null;
}

/** Rejects with an `ApiProblem` or the abort. */
async function download(
  resultId: string,
  { format, numbers }: { readonly format: DownloadFormat; readonly numbers: 'text' | undefined },
  signal: AbortSignal,
): Promise<Downloaded> {
  const response = await callApi(`/results/${segment(resultId)}`, { query: { format, numbers }, signal });
  const blob = await readBody(response, (whole) => whole.blob());
  saveFile(blob, `settlement-index-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}.${format}`);
  const rows = response.headers.get('x-row-count');
  return { bytes: blob.size, rows: rows === null ? null : Number(rows) };
}

type DownloadState =
  | { readonly phase: 'idle' }
  | { readonly phase: 'running'; readonly format: DownloadFormat }
  | { readonly phase: 'done'; readonly format: DownloadFormat; readonly file: Downloaded }
  | { readonly phase: 'failed'; readonly problem: ApiProblem };

/** Buttons that download all rows that were kept. */
export function Downloads({ resultId }: { readonly resultId: string }) {
  const [state, setState] = useState<DownloadState>({ phase: 'idle' });
  const [asTexts, setAsTexts] = useState(false);
  const current = useRef<AbortController | null>(null);
  useEffect(() => () => current.current?.abort(), []);
  const start = async (format: DownloadFormat): Promise<void> => {
    const mine = new AbortController();
    current.current = mine;
    setState({ phase: 'running', format });
    try {
      const file = await download(resultId, { format, numbers: asTexts ? 'text' : undefined }, mine.signal);
      announce(`${format} downloaded, free of charge`);
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
          Download, free of charge:
        </span>
        {DOWNLOADS.map(({ format, name }) => (
          <button
            key={format}
            type="button"
            class="button small-button"
            aria-label={`Download ${name}`}
            aria-describedby="download-note"
            disabled={isRunning}
            onClick={() => void start(format)}
          >
            {name}
          </button>
        ))}
        <label
          class="small muted"
          title="Parquet and Arrow store decimals of at most 38 digits; as text, larger numbers keep every digit."
        >
          <input type="checkbox" checked={asTexts} onChange={() => setAsTexts(!asTexts)} /> large numbers as
          text
        </label>
        {isRunning ? (
          <button type="button" class="button small-button danger" onClick={() => current.current?.abort()}>
            Stop the download
          </button>
        ) : null}
        {state.phase === 'done' ? <DoneText file={state.file} /> : null}
      </div>
      {state.phase === 'failed' ? <ProblemState problem={state.problem} /> : null}
    </div>
  );
}

function DoneText({ file: { bytes, rows } }: { readonly file: Downloaded }) {
  return (
    <span class="small good">
      {rows === null ? '' : `${countText(rows)} rows, `}
      {bytesText(bytes)}, no charge
    </span>
  );
}
