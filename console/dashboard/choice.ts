import { PERIODS, type Period } from '../../core/domain/dashboard.ts';
import type { Dashboard } from '../wire.ts';

/** What the reader of a dashboard chooses, as its address says it. Pure, so that tests can run it outside a browser. */
export interface BoardChoice {
  readonly period: Period;
  readonly chain: string | null;
  readonly wallet: string | null;
  /** Opens a private dashboard in a frame. */
  readonly token: string | null;
}

export const DEFAULT_PERIOD: Period = '7d';

export function choiceOf(query: URLSearchParams): BoardChoice {
  const asked = query.get('period');
  return {
    period: PERIODS.find((period) => period === asked) ?? DEFAULT_PERIOD,
    chain: query.get('chain'),
    wallet: query.get('wallet'),
    token: query.get('token'),
  };
}

/** Whether its panels wait for a wallet that was not named. */
export function lacksWallet({ takes }: Pick<Dashboard, 'takes'>, { wallet }: BoardChoice): boolean {
  return takes.includes('wallet') && wallet === null;
}

export function hasPeriod({ takes }: Pick<Dashboard, 'takes'>): boolean {
  return takes.some((name) => name === 'period' || name === 'hours' || name === 'days');
}

/** Below /v0. */
export function boardPath({ owner, slug }: Pick<Dashboard, 'owner' | 'slug'>): string {
  return `/dashboards/${encodeURIComponent(owner)}/${encodeURIComponent(slug)}`;
}
