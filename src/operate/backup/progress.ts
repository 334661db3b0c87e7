/** Lines about how far something is, with the time that is left. */
export interface ToldProgress {
  /** The number done in all. Writes it now and then. */
  reached(done: number): void;
  /** Adds to the number done. */
  add(more: number): void;
}

/** Intervals between progress lines, on a terminal and in a log. */
const TERMINAL_EVERY_MS = 1_000;
const LOG_EVERY_MS = 10_000;
const MEBIBYTE = 1_048_576;

/** Reports bytes. A total of 0 is unknown: then only the bytes done are reported. */
export function tellBytes(
  what: string,
  totalBytes: number,
  { say, isTerminal }: { say(line: string): void; readonly isTerminal: boolean },
  nowMs: () => number = Date.now,
): ToldProgress {
  return tell(isTerminal, nowMs, (done, seconds) =>
    say(`${what}: ${spellProgress({ done, total: totalBytes, seconds })}`),
  );
}

/** Reports steps of one kind, such as days: `120 of 480 days, 25 %, about 90 s left`. */
export function tellSteps(
  what: string,
  kind: string,
  total: number,
  { say, isTerminal }: { say(line: string): void; readonly isTerminal: boolean },
  nowMs: () => number = Date.now,
): ToldProgress {
  return tell(isTerminal, nowMs, (done, seconds) => {
    const left = Math.ceil((seconds * (total - done)) / Math.max(1, done));
    say(`${what}: ${done} of ${total} ${kind}, ${Math.floor((100 * done) / total)} %, about ${left} s left`);
  });
}

function tell(
  isTerminal: boolean,
  nowMs: () => number,
  report: (done: number, seconds: number) => void,
): ToldProgress {
  const began = nowMs();
  const everyMs = isTerminal ? TERMINAL_EVERY_MS : LOG_EVERY_MS;
  let toldAt = began;
  let soFar = 0;
  const reached = (done: number): void => {
    soFar = done;
    const now = nowMs();
    if (now - toldAt < everyMs) return;
    toldAt = now;
    report(done, (now - began) / 1_000);
  };
  return { reached, add: (more) => reached(soFar + more) };
}

/** For example `120 of 480 MiB, 25 %, about 90 s left`. */
export function spellProgress(at: {
  readonly done: number;
  readonly total: number;
  readonly seconds: number;
}): string {
  const { done, total, seconds } = at;
  const mebibytes = (bytes: number): number => Math.round(bytes / MEBIBYTE);
  if (total === 0 || done === 0) return `${mebibytes(done)} MiB`;
  // The copy may be a little larger than the total that was read before.
  const share = Math.min(1, done / total);
  const left = Math.ceil((seconds * (1 - share)) / share);
  return `${mebibytes(done)} of ${mebibytes(total)} MiB, ${Math.floor(share * 100)} %, about ${left} s left`;
}
