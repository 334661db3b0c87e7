import { Time } from '../components/figures.tsx';
import { EmptyState } from '../components/states.tsx';
import { millisecondsText, rowsText } from '../format.ts';
import { useStore } from '../store.ts';
import { forgetHistory, type HistoryEntry, sqlHistory } from './history.ts';
import type { SqlQuestion } from './wire.ts';

/** Queries that were run in this browser, the newest first. */
export function HistoryList({ onOpen }: { onOpen(question: SqlQuestion): void }) {
  const entries = useStore(sqlHistory);
  if (entries.length === 0)
    return (
      <EmptyState title="No queries yet">
        <p>What you run is listed here, in this browser only.</p>
      </EmptyState>
    );
  return (
    <div class="history">
      <ol>
        {entries.map((entry) => (
          <li key={`${entry.at} ${entry.sql}`}>
            <button
              type="button"
              class="history-query"
              title="Put it into the editor"
              onClick={() => onOpen(entry)}
            >
              <code>{oneLine(entry.sql)}</code>
            </button>
            <p class="muted small">
              <Time at={entry.at} ago /> · <Outcome entry={entry} />
            </p>
          </li>
        ))}
      </ol>
      <button type="button" class="button" onClick={forgetHistory}>
        Forget the history
      </button>
    </div>
  );
}

const SHOWN_CHARS = 240;

function oneLine(sql: string): string {
  return sql.replace(/\s+/g, ' ').trim().slice(0, SHOWN_CHARS);
}

function Outcome({ entry: { failed, rows, ms, chargedQu } }: { readonly entry: HistoryEntry }) {
  if (failed !== null) return <span class="bad">{failed}</span>;
  return (
    <span>
      {rowsText(rows)} · {millisecondsText(ms)} · {chargedQu ?? 0} QU
    </span>
  );
}
