/** The spans of time, ending now, that figures and rankings of wallets can be about. */
export const WINDOWS = ['24h', '7d', '30d', '90d', 'all'] as const;
export type Window = (typeof WINDOWS)[number];
