import { WINDOWS, type Window } from '../../core/domain/window.ts';

/** The windows of figures, as the address of a page names them. Pure. */

/** Growth compares a window with the one before, which all of time does not have. */
export const GROWTH_WINDOWS = WINDOWS.filter((window) => window !== 'all');

/** As a choice says it. */
export const WINDOW_NAMES: Readonly<Record<Window, string>> = {
  '24h': '24h',
  '7d': '7d',
  '30d': '30d',
  '90d': '90d',
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

/** Of figures: `in the last 30 days`. */
export const WINDOW_DURING: Readonly<Record<Window, string>> = {
  '24h': 'in the last 24 hours',
  '7d': 'in the last 7 days',
  '30d': 'in the last 30 days',
  '90d': 'in the last 90 days',
  all: 'since the index begins',
};

/** The window of an address; where it names none, the default. */
export function windowOf(query: URLSearchParams, fallback: Window = '30d'): Window {
  const text = query.get('window');
  return WINDOWS.find((window) => window === text) ?? fallback;
}
