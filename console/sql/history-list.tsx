import { EmptyState } from '../components/states.tsx';
import { Time } from '../components/time.tsx';
import { millisecondsText, rowsText } from '../format.ts';
import { useStore } from '../store.ts';
import { forgetHistory, type HistoryEntry, sqlHistory } from './history.ts';

interface HistoryListProps {
  /** Opens the query in a tab, with its kept result. */
  onOpen(entry: HistoryEntry): void;
}

/** The queries that were run in this browser, newest first. */
export function HistoryList({ onOpen }: HistoryListProps) {
  const entries = useStore(sqlHistory);
  if (entries.length === 0)
    return (
      <EmptyState title="No queries yet">
        <p>Queries that you run are listed here, in this browser only.</p>
      </EmptyState>
    );
  return (
    <div class="history">
      <p class="muted small">
        Opening a query shows its kept result for seven days, without another charge. The list is in this
        browser only.
      </p>
      <ol>
        {entries.map((entry) => (
          <li key={`${entry.at} ${entry.sql}`}>
            <button
              type="button"
              class="history-query"
              title="Open with its result, free of charge"
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
        Clear the history
      </button>
    </div>
  );
}

const SHOWN_CHARS = 240;

function oneLine(sql: string): string {
  return sql.replace(/\s+/g, ' ').trim().slice(0, SHOWN_CHARS);
}

function Outcome({ entry: { failed, rows, ms, chargedQu } }: { readonly entry: HistoryEntry }) {
  const charge = chargedQu === null ? '' : ` · ${chargedQu} QU`;
  if (failed === 'cancelled') return <span>cancelled{charge}</span>;
  if (failed !== null) return <span class="bad">{failed}</span>;
  return (
    <span>
      {rowsText(rows)} · {millisecondsText(ms)}
      {charge}
    </span>
  );
}
