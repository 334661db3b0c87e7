import { WINDOWS, type Window } from '../../core/domain/window.ts';

/** The windows of rankings, as the address of a page names them. Pure. */

/** Growth compares a window with the one before, which all of time does not have. */
export const GROWTH_WINDOWS = WINDOWS.filter((window) => window !== 'all');

/** As a choice says it. */
export const WINDOW_NAMES: Readonly<Record<Window, string>> = {
  '24h': '24 h',
  '7d': '7 d',
  '30d': '30 d',
  '90d': '90 d',
  all: 'All',
};

/** As a sentence says it: `the 30 days before`. All of time has nothing before it. */
export const WINDOW_BEFORE: Readonly<Record<Window, string>> = {
  '24h': 'the 24 hours before',
  '7d': 'the 7 days before',
  '30d': 'the 30 days before',
  '90d': 'the 90 days before',
  all: 'the time before',
};

/** `in 30 days`, `of all time`. */
export const WINDOW_DURING: Readonly<Record<Window, string>> = {
  '24h': 'in 24 hours',
  '7d': 'in 7 days',
  '30d': 'in 30 days',
  '90d': 'in 90 days',
  all: 'of all time',
};

/** The window of an address; where it names none, the default. */
export function windowOf(query: URLSearchParams, fallback: Window = '30d'): Window {
  const text = query.get('window');
  return WINDOWS.find((window) => window === text) ?? fallback;
}

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
