import { inspect } from 'node:util';

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

export function shown(name: string, value: number, unit: string): Figure {
  return { name, value, unit, goal: '-', ok: !Number.isNaN(value) };
}

const COMPARISONS = {
  '<': (value: number, limit: number) => value < limit,
  '<=': (value: number, limit: number) => value <= limit,
  '=': (value: number, limit: number) => value === limit,
  '>': (value: number, limit: number) => value > limit,
  '>=': (value: number, limit: number) => value >= limit,
} as const;

/** A figure with a goal: `judged('reads-p99', 3.2, 'ms', '<=', 5)`. Without a limit it is only shown. */
export function judged(
  name: string,
  value: number,
  unit: string,
  is: keyof typeof COMPARISONS,
  limit: number | undefined,
): Figure {
  if (limit === undefined) return shown(name, value, unit);
  return { name, value, unit, goal: `${is}${limit}`, ok: COMPARISONS[is](value, limit) };
}

/** What could not be measured: its line is `name error - - short`. */
function failed(name: string): Figure {
  return shown(name, Number.NaN, '-');
}

/** `name value unit goal ok|short`. */
export function lineOf({ name, value, unit, goal, ok }: Figure): string {
  return `${name} ${readable(value)} ${unit} ${goal} ${ok ? 'ok' : 'short'}`;
}

/** Three significant digits for small numbers, whole ones from 100 up: a bench is no more precise than that. */
function readable(value: number): string {
  if (Number.isNaN(value)) return 'error';
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

/** The smallest sample that at least `share` of all samples do not exceed (nearest rank). */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  const rank = Math.max(1, Math.ceil(share * sorted.length));
  return sorted[rank - 1] ?? Number.NaN;
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/** Milliseconds that `work` took, with what it answered. */
export async function timed<T>(work: () => Promise<T>): Promise<{ readonly ms: number; readonly result: T }> {
  const began = performance.now();
  const result = await work();
  return { ms: performance.now() - began, result };
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

/** `, about 40 s left`, from how long the part that is done took. */
export function timeLeft(beganMs: number, done: number, of: number): string {
  if (done <= 0 || done >= of) return '';
  const left = ((performance.now() - beganMs) / 1_000 / done) * (of - done);
  return `, about ${Math.ceil(left)} s left`;
}

type Say = (line: string) => void;

/** The figures of each question (or part) in turn. One that fails is a figure with its name, and the others are still asked. */
export async function askEach<Question extends { readonly name: string }>(
  questions: readonly Question[],
  say: Say,
  ask: (question: Question) => Promise<readonly Figure[]>,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const question of questions) {
    const answered = await attempt(question.name, { figures, say }, () => ask(question));
    figures.push(...(answered ?? []));
  }
  return figures;
}

/** What `work` answers; undefined where it failed, which is then one more figure with this name. */
export async function attempt<T>(
  name: string,
  { figures, say }: { readonly figures: Figure[]; readonly say: Say },
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    say(`${name} failed: ${inspect(error)}`);
    figures.push(failed(name));
    return undefined;
  }
}

/**
 * Asks the sides of a race in turn, so that a busy moment of the machine affects all of them, and answers the samples of each. Warm-up
 * rounds come first and are not among them; a side is told the number of the round.
 */
export async function inTurn<Side extends string, Sample>(
  sides: Readonly<Record<Side, (round: number) => Sample | Promise<Sample>>>,
  { rounds, warmUp = 0 }: { readonly rounds: number; readonly warmUp?: number },
): Promise<Readonly<Record<Side, Sample[]>>> {
  const names = Object.keys(sides) as Side[]; // of an object that is written out where this is called
  const samples = Object.fromEntries(names.map((name) => [name, [] as Sample[]])) as Record<Side, Sample[]>;
  for (let round = 0; round < warmUp + rounds; round++) {
    for (const name of names) {
      const sample = await sides[name](round);
      if (round >= warmUp) samples[name].push(sample);
    }
  }
  return samples;
}
