import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';

/** How a table fits the width that it has. */
export interface Fit {
  /** Columns up to this priority have a place of their own. */
  readonly ownUpTo: 1 | 2 | 3;
  /** Each row is a card. */
  readonly isCards: boolean;
  /** Nothing fits: the table scrolls sideways. */
  readonly isScrolling: boolean;
}

/** Narrower tables would break every word: rows are cards at once. */
const CARDS_BELOW_PX = 560;

interface FitProps {
  /** The priority of each column. */
  readonly priorities: readonly number[];
  /** Never cards. */
  readonly isCompact: boolean;
}

/**
 * Measures the table in its frame after each render and, while it is wider than the frame, takes the next step: columns of priority 3
 * stacked, then columns of rank 2, then cards. A new width begins with the first step again. All steps happen before the browser paints.
 */
export function useFit({ priorities, isCompact }: FitProps): {
  readonly frame: RefObject<HTMLElement | null>;
  readonly fit: Fit;
} {
  const frame = useRef<HTMLElement>(null);
  const hasTwo = priorities.includes(2);
  const hasThree = priorities.includes(3);
  const steps = useMemo(() => stepsOf({ hasTwo, hasThree, isCompact }), [hasTwo, hasThree, isCompact]);
  const [{ step }, setState] = useState({ step: 0, width: 0 });
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const start = (width: number): void =>
      setState((before) =>
        before.width === width
          ? before
          : { width, step: !isCompact && width < CARDS_BELOW_PX ? steps.length - 1 : 0 },
      );
    start(element.clientWidth);
    const observer = new ResizeObserver(() => start(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [steps, isCompact]);
  useLayoutEffect(() => {
    const element = frame.current;
    const table = element?.querySelector(':scope > table');
    if (element === null || !(table instanceof HTMLElement)) return;
    if (table.offsetWidth > element.clientWidth && step < steps.length - 1)
      // The effect above may have set a step for the width in this same turn, which is newer than the one that was measured.
      setState((before) => (before.step === step ? { ...before, step: step + 1 } : before));
  });
  return { frame, fit: steps[Math.min(step, steps.length - 1)] ?? WIDE };
}

const WIDE: Fit = { ownUpTo: 3, isCards: false, isScrolling: false };

function stepsOf(has: { hasTwo: boolean; hasThree: boolean; isCompact: boolean }): readonly Fit[] {
  const stacking: Fit[] = [
    ...(has.hasThree ? [{ ...WIDE, ownUpTo: 2 as const }] : []),
    ...(has.hasTwo ? [{ ...WIDE, ownUpTo: 1 as const }] : []),
  ];
  const last: Fit = has.isCompact
    ? { ownUpTo: 1, isCards: false, isScrolling: true }
    : { ownUpTo: 3, isCards: true, isScrolling: false };
  return [WIDE, ...stacking, last];
}
