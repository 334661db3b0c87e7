/** How far a long step is: one rewritten line with an ETA on a terminal, a plain line every tenth elsewhere. */
export interface Progress {
  update(done: number): void;
  /** Ends the line. */
  finish(): void;
}

const REDRAW_MS = 100;
const TENTHS = 10;

export function showProgress(label: string, total: number): Progress {
  const began = performance.now();
  const terminal = process.stdout.isTTY === true;
  let drawnAt = 0;
  let tenth = 0;
  const draw = (done: number): void => {
    const elapsed = (performance.now() - began) / 1_000;
    const left = done === 0 ? null : Math.ceil((elapsed / done) * (total - done));
    const percent = Math.floor((done / total) * 100);
    const text = `  ${label}: ${done} of ${total} (${percent} %)${left === null || left === 0 ? '' : `, ${left} s left`}`;
    process.stdout.write(terminal ? `\r\u001b[K${text}` : `${text}\n`);
  };
  return {
    update(done) {
      if (terminal) {
        if (performance.now() - drawnAt < REDRAW_MS && done < total) return;
        drawnAt = performance.now();
        draw(done);
        return;
      }
      const reached = Math.floor((done / total) * TENTHS);
      if (reached > tenth) draw(done);
      tenth = Math.max(tenth, reached);
    },
    finish: () => {
      if (terminal) process.stdout.write('\n');
    },
  };
}

/** Progress of a step that starts before its line may be shown, and that reports its own total. */
export function lateProgress(label: string): {
  readonly update: (done: number, total: number) => void;
  show(): void;
  finish(): void;
} {
  let last: readonly [number, number] | null = null;
  let line: Progress | null = null;
  let isShown = false;
  const draw = (): void => {
    if (!isShown || last === null) return;
    const [done, total] = last;
    line ??= showProgress(label, total);
    line.update(done);
  };
  return {
    update(done, total) {
      last = [done, total];
      draw();
    },
    show() {
      isShown = true;
      draw();
    },
    finish() {
      line?.finish();
      isShown = false;
    },
  };
}

/** Rewrites one status line on a terminal; prints nothing elsewhere, because it would fill a log. */
export function showStatus(text: string): void {
  if (process.stdout.isTTY)
    process.stdout.write(`\r\u001b[K${text.slice(0, (process.stdout.columns ?? 120) - 1)}`);
}
