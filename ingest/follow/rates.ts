/** How far back the moving rates look. */
const RATE_MEMORY_SECONDS = 10;

export interface Rates {
  readonly rowsPerSecond: number;
  readonly blocksPerSecond: number;
}

/** Moving averages of the work done; `roll` closes an interval of any length. */
export function createRates(nowMs: () => number): {
  add(rows: number, blocks: number): void;
  roll(): void;
  current(): Rates;
} {
  let since = nowMs();
  let rows = 0;
  let blocks = 0;
  let current: Rates = { rowsPerSecond: 0, blocksPerSecond: 0 };
  return {
    add(moreRows, moreBlocks) {
      rows += moreRows;
      blocks += moreBlocks;
    },
    roll() {
      const seconds = Math.max(0.001, (nowMs() - since) / 1000);
      const weight = 1 - Math.exp(-seconds / RATE_MEMORY_SECONDS);
      const mix = (old: number, fresh: number): number => (old === 0 ? fresh : old + weight * (fresh - old));
      current = {
        rowsPerSecond: mix(current.rowsPerSecond, rows / seconds),
        blocksPerSecond: mix(current.blocksPerSecond, blocks / seconds),
      };
      since = nowMs();
      rows = 0;
      blocks = 0;
    },
    current: () => current,
  };
}
