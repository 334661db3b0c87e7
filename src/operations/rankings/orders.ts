import { WINDOWS, type Window } from '../../../core/domain/window.ts';
import { invalid } from '../params.ts';

/** What can be ranked by what, over which windows: declared here once, for refusals, OpenAPI and docs/methodology.md. */

export const SUBJECTS = [
  'agents',
  'merchants',
  'payers',
  'facilitators',
  'endpoints',
  'capabilities',
] as const;
export type RankedSubject = (typeof SUBJECTS)[number];

export const ORDERS = [
  'score',
  'paid_score',
  'proven_usd',
  'organic_usd',
  'settlements',
  'counterparties',
  'growth',
] as const;
export type Order = (typeof ORDERS)[number];
/** Orders by the payments of a window. */
export type PaymentOrder = Exclude<Order, 'score' | 'paid_score'>;

const ALL_TIME = ['all'] as const;
/** Growth compares a window with the one before, which all of time does not have. */
const BOUNDED = ['24h', '7d', '30d', '90d'] as const;

const PARTIES = {
  organic_usd: WINDOWS,
  proven_usd: WINDOWS,
  settlements: WINDOWS,
  counterparties: WINDOWS,
  growth: BOUNDED,
} as const;

/** The first order of a subject is its default. */
export const POSSIBLE: Readonly<Record<RankedSubject, Readonly<Partial<Record<Order, readonly Window[]>>>>> =
  {
    agents: { score: ALL_TIME, paid_score: ALL_TIME, ...PARTIES },
    merchants: PARTIES,
    payers: PARTIES,
    facilitators: {
      settlements: WINDOWS,
      organic_usd: WINDOWS,
      proven_usd: WINDOWS,
      counterparties: WINDOWS,
      growth: BOUNDED,
    },
    endpoints: { settlements: WINDOWS, counterparties: WINDOWS },
    capabilities: { settlements: WINDOWS, counterparties: WINDOWS },
  };

const WINDOW_DEFAULT: Window = '30d';

const HAS_CAPABILITY: readonly RankedSubject[] = ['agents', 'merchants', 'endpoints'];

interface Asked {
  readonly of: RankedSubject;
  readonly by: Order | undefined;
  readonly window: Window | undefined;
  readonly capability: string | undefined;
}

export interface Chosen {
  readonly of: RankedSubject;
  readonly by: Order;
  readonly window: Window;
}

/** The order and window of a request, with their defaults. Throws `invalid_parameter` that names the possible ones. */
export function choose({ of, by: asked, window: askedWindow, capability }: Asked): Chosen {
  const orders = ordersOf(of);
  const by = asked ?? orders[0] ?? 'settlements';
  const windows = POSSIBLE[of][by];
  if (windows === undefined)
    throw invalid('by', `by=${by} has no meaning for of=${of}; possible: ${orders.join(', ')}.`);
  const window = askedWindow ?? defaultWindow(windows);
  if (!windows.includes(window))
    throw invalid(
      'window',
      `window=${window} has no meaning for of=${of} by=${by}; possible: ${windows.join(', ')}.`,
    );
  if (capability !== undefined && !HAS_CAPABILITY.includes(of))
    throw invalid(
      'capability',
      `capability filters nothing of=${of}; possible: ${HAS_CAPABILITY.join(', ')}.`,
    );
  return { of, by, window };
}

export function isRating(by: Order): by is 'score' | 'paid_score' {
  return by === 'score' || by === 'paid_score';
}

export function ordersOf(of: RankedSubject): Order[] {
  return Object.keys(POSSIBLE[of]) as Order[]; // the table's own keys
}

export function defaultWindow(windows: readonly Window[]): Window {
  return windows.includes(WINDOW_DEFAULT) ? WINDOW_DEFAULT : (windows[0] ?? WINDOW_DEFAULT);
}

/** `agents: score, paid_score …; merchants: …`, for descriptions. */
export function ordersText(): string {
  return SUBJECTS.map((of) => `${of}: ${ordersOf(of).join(', ')}`).join('; ');
}

/** The rows of the table in docs/methodology.md: subject, order, windows. */
export function possibleRows(): (readonly [RankedSubject, Order, string])[] {
  return SUBJECTS.flatMap((of) =>
    ordersOf(of).map((by) => [of, by, (POSSIBLE[of][by] ?? []).join(', ')] as const),
  );
}
