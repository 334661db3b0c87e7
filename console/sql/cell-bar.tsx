import { useEffect, useState } from 'preact/hooks';
import { CopyButton } from '../components/copy-button.tsx';
import { fullText, isAddress, rawText } from './cells.ts';
import type { ShownColumn } from './grid-columns.ts';

interface CellBarProps {
  readonly column: ShownColumn | undefined;
  readonly value: unknown;
  onWallet(wallet: string): void;
}

/** Values that need more room than the line of the bar. */
const LINE_CHARS = 120;

/** The whole value of the active cell, which its column may cut. */
export function CellBar({ column, value, onWallet }: CellBarProps) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [value]);
  if (column === undefined)
    return <p class="cell-bar muted small">Select a cell to see its whole value. Enter copies it.</p>;
  const text = fullText(value);
  const isLong = text.length > LINE_CHARS || text.includes('\n');
  return (
    <div class={isOpen ? 'cell-bar open' : 'cell-bar'}>
      <span class="muted">{column.name}</span>
      {isOpen ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long value is scrolled with the keys
        <pre tabIndex={0}>{text}</pre>
      ) : (
        <code>{isLong ? rawText(value) : text}</code>
      )}
      <span class="cell-bar-end">
        {isLong ? (
          <button
            type="button"
            class="button small-button"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? 'Fold' : 'Show all'}
          </button>
        ) : null}
        {isAddress(value) ? (
          <button type="button" class="button small-button" onClick={() => onWallet(value)}>
            Show wallet
          </button>
        ) : null}
        <CopyButton text={rawText(value)} what="cell" />
      </span>
    </div>
  );
}
