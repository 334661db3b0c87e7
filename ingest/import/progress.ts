/** How far an import is, counted in logs of its files. */
export interface ImportProgress {
  /** Logs that are dealt with since the last call, of those announced. */
  add(logs: number): void;
  wrote(settlements: number): void;
  line(): string;
}

export function createImportProgress(totalLogs: number, nowMs: () => number = Date.now): ImportProgress {
  const began = nowMs();
  let done = 0;
  let settlements = 0;
  return {
    add(logs) {
      done += logs;
    },
    wrote(count) {
      settlements += count;
    },
    line() {
      const seconds = Math.max(0.001, (nowMs() - began) / 1_000);
      const perSecond = done / seconds;
      // Shares of a group add up to its logs but for a rounding.
      const share = done + 1 >= totalLogs ? 1 : done / totalLogs;
      const eta =
        perSecond > 0 ? `${Math.ceil(Math.max(0, totalLogs * (1 - share)) / perSecond)} s` : 'unknown';
      return `import ${(100 * share).toFixed(1)} %, ${Math.round(perSecond)} logs/s, ${settlements} settlements, ETA ${eta}`;
    },
  };
}
