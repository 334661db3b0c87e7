import { useEffect, useRef, useState } from 'preact/hooks';
import { noteBalance } from '../account.ts';
import { announce } from '../announce.tsx';
import { ProblemState } from '../components/states.tsx';
import { bytesText, countText } from '../format.ts';
import { ApiProblem, isAbort } from '../problem.ts';
import { DOWNLOADS, type Downloaded, type DownloadFormat, download } from './download.ts';
import type { SqlQuestion } from './wire.ts';

type DownloadState =
  | { readonly phase: 'idle' }
  | { readonly phase: 'running'; readonly format: DownloadFormat }
  | { readonly phase: 'done'; readonly format: DownloadFormat; readonly file: Downloaded }
  | { readonly phase: 'failed'; readonly problem: ApiProblem };

/** The whole result of the query that the table shows, as a file. */
export function Downloads({ question }: { readonly question: SqlQuestion }) {
  const [state, setState] = useState<DownloadState>({ phase: 'idle' });
  const current = useRef<AbortController | null>(null);
  useEffect(() => () => current.current?.abort(), []);
  const start = async (format: DownloadFormat): Promise<void> => {
    const mine = new AbortController();
    current.current = mine;
    setState({ phase: 'running', format });
    try {
      const file = await download(question, format, mine.signal);
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
          Whole result, run and charged again:
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
