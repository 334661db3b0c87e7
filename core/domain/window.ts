/** The spans of time, ending now, that figures and rankings of wallets can be about. */
export const WINDOWS = ['24h', '7d', '30d', '90d', 'all'] as const;
export type Window = (typeof WINDOWS)[number];

const HOUR_SECONDS = 3_600;
const HOURS: Readonly<Record<Exclude<Window, 'all'>, number>> = {
  '24h': 24,
  '7d': 7 * 24,
  '30d': 30 * 24,
  '90d': 90 * 24,
};

export function secondsOf(window: Exclude<Window, 'all'>): number {
  return HOURS[window] * HOUR_SECONDS;
}

/** Unix seconds, from included, to excluded; null: no end. */
export interface Span {
  readonly from: number;
  readonly to: number | null;
}

/**
 * The window that ends now and the windows of the same length before it, newest first: exact to the second, so that a window and the one before
 * it cover the same hours of the day. All of time is one window.
 */
export function spansOf(window: Window, nowSeconds: number, count: number): Span[] {
  if (window === 'all') return [{ from: 0, to: null }];
  const seconds = secondsOf(window);
  return Array.from({ length: count }, (_, back) => ({
    from: Math.max(0, nowSeconds - (back + 1) * seconds),
    to: back === 0 ? null : nowSeconds - back * seconds,
  }));
}
