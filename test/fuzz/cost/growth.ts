import type { Measured } from './measured.ts';
import { TEXTS } from './texts.ts';

/** Searches entries whose cost per byte grows with the text. */

const KIB = 1_024;
const SIZES = { small: KIB, middle: 8 * KIB, large: 64 * KIB } as const;
/** Eight times the text may take eight times as long, and half as much again. */
const GROWTH_MAX = 12;
/** Below it the fixed cost of a call decides. */
const NOTICED_MS = 25;
/** A figure that is too high once is measured again: a collection of garbage or a first compilation is no growth. */
const ROUNDS_MAX = 6;

export interface Growth {
  readonly entry: string;
  readonly text: string;
  /** Milliseconds at 1, 8 and 64 KiB; `stopped` where it did not answer, `not read` where it was always too busy to. */
  readonly ms: readonly (number | 'stopped' | 'not read')[];
}

export interface Case {
  readonly entry: string;
  readonly text: string;
}

export function casesOf({ entries }: Measured): Case[] {
  return entries.flatMap((entry) => [...TEXTS.keys()].map((text) => ({ entry, text })));
}

/** Null where the cost grows like the text, or less. */
export async function growthOf({ entry, text }: Case, measured: Measured): Promise<Growth | null> {
  const make = TEXTS.get(text);
  if (make === undefined) throw new Error(`no text ${text}`);
  const least = { small: Infinity, middle: Infinity, large: Infinity };
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    for (const size of ['small', 'middle', 'large'] as const) {
      try {
        nonce += 1;
        const ms = await measured.cost(entry, make(SIZES[size], nonce));
        least[size] = Math.min(least[size], ms ?? Infinity);
      } catch {
        return { entry, text, ms: [...known(least), 'stopped'] };
      }
    }
    if (wasRead(least) && isLinear(least)) return null;
  }
  return { entry, text, ms: wasRead(least) ? known(least) : [...known(least), 'not read'] };
}

let nonce = 0;

type Least = Readonly<Record<keyof typeof SIZES, number>>;

function wasRead({ small, middle, large }: Least): boolean {
  return Number.isFinite(small + middle + large);
}

function isLinear({ small, middle, large }: Least): boolean {
  return grows(small, middle) && grows(middle, large);
}

function grows(smaller: number, larger: number): boolean {
  return larger < NOTICED_MS || larger <= GROWTH_MAX * smaller;
}

function known({ small, middle, large }: Least): number[] {
  return [small, middle, large].filter(Number.isFinite).map((ms) => Math.round(ms * 10) / 10);
}

export function describeGrowth({ entry, text, ms }: Growth): string {
  return `${entry}: ${JSON.stringify(text)} takes ${ms.join(', ')} ms at 1, 8, 64 KiB`;
}
