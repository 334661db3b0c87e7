/** A result of a bench. The bench decides `ok`, not the reader of its output. */
export interface Figure {
  /** kebab-case, stable over time, so that two runs can be compared line by line. */
  readonly name: string;
  readonly value: number;
  /** `x` for a ratio of two things measured in the same run, else a unit such as `ms`, `rows`, `rows/s`. */
  readonly unit: string;
  /** For example `>=50` (no spaces, so that a line splits into five words), or `-` for a number that is only shown. */
  readonly goal: string;
  readonly ok: boolean;
}

/** One line per figure, `name value unit goal ok|short`, as the last thing a bench prints. */
export function printFigures(figures: readonly Figure[]): void {
  for (const { name, value, unit, goal, ok } of figures) {
    console.log(`${name} ${readable(value)} ${unit} ${goal} ${ok ? 'ok' : 'short'}`);
  }
}

/** Three significant digits for small numbers, whole ones from 100 up: a bench is no more precise than that. */
function readable(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
