/** The parts of a trend, as its picture names them. Pure. */

interface Point {
  readonly label: string;
  readonly value: number;
}

interface SparklineParts {
  readonly from: string;
  readonly step_seconds: number;
}

const HOUR_SECONDS = 3_600;

/** The parts of a sparkline with their names: `2026-11-20`, or `2026-11-20 09:00` where a part is an hour. */
export function pointsOf(values: readonly number[], parts: SparklineParts | null): Point[] {
  const fromMs = Date.parse(parts?.from ?? '');
  const step = parts?.step_seconds ?? 0;
  return values.map((value, at) => {
    if (Number.isNaN(fromMs)) return { label: `part ${at + 1}`, value };
    const time = new Date(fromMs + at * step * 1_000).toISOString();
    return { label: step <= HOUR_SECONDS ? time.slice(0, 16).replace('T', ' ') : time.slice(0, 10), value };
  });
}
