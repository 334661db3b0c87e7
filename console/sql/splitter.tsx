import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { readStored, writeStored } from '../stored.ts';

const STORED_AS = 'six.sql.editor-px';
const LEAST_PX = 96;
const MOST_PX = 900;
const FIRST_PX = 200;
const STEP_PX = 16;
const PAGE_PX = 96;

interface Splitter {
  /** Height of the part above it. */
  readonly px: number;
  setPx(px: number): void;
}

/** The height of the editor, kept for the next visit. */
export function useSplit(): Splitter {
  const [px, set] = useState(() => {
    const stored = readStored(STORED_AS);
    return typeof stored === 'number' ? bounded(stored) : FIRST_PX;
  });
  const setPx = useCallback((next: number) => {
    set(bounded(next));
    writeStored(STORED_AS, bounded(next));
  }, []);
  return { px, setPx };
}

function bounded(px: number): number {
  // The part below keeps a place of its own, however small the window is.
  const most = Math.max(LEAST_PX, Math.min(MOST_PX, innerHeight * 0.7));
  return Math.round(Math.min(Math.max(px, LEAST_PX), most));
}

/** Moved by dragging and by the arrow keys; a double click restores the first height. Source: the window splitter pattern of WAI-ARIA. */
export function SplitterBar({ px, setPx }: Splitter) {
  const drag = useRef<{ readonly startY: number; readonly startPx: number } | null>(null);
  const bar = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const onResize = (): void => setPx(px);
    addEventListener('resize', onResize);
    return () => removeEventListener('resize', onResize);
  }, [px, setPx]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const to: Readonly<Record<string, number>> = {
      ArrowUp: px - STEP_PX,
      ArrowDown: px + STEP_PX,
      PageUp: px - PAGE_PX,
      PageDown: px + PAGE_PX,
      Home: LEAST_PX,
      End: MOST_PX,
    };
    const next = to[event.key];
    if (next === undefined) return;
    event.preventDefault();
    setPx(next);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: an <hr> takes no focus; the pattern is that of a separator that does
    <div
      ref={bar}
      class="splitter"
      role="separator"
      tabIndex={0}
      aria-orientation="horizontal"
      aria-label="Height of the editor"
      aria-valuenow={px}
      aria-valuemin={LEAST_PX}
      aria-valuemax={MOST_PX}
      onKeyDown={onKeyDown}
      onDblClick={() => setPx(FIRST_PX)}
      onPointerDown={(event) => {
        bar.current?.setPointerCapture(event.pointerId);
        drag.current = { startY: event.clientY, startPx: px };
      }}
      onPointerMove={(event) => {
        if (drag.current !== null) setPx(drag.current.startPx + event.clientY - drag.current.startY);
      }}
      onPointerUp={() => {
        drag.current = null;
      }}
      onPointerCancel={() => {
        drag.current = null;
      }}
    />
  );
}
