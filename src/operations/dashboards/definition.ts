import {
  EVERY_CHAIN,
  type PanelChartKind,
  type PanelKind,
  type PanelWidth,
  PERIOD_HOURS,
  type Period,
} from '../../../core/domain/dashboard.ts';
import type { Visibility } from '../../../core/domain/saved-query.ts';
import type { SavedQuery } from '../saved/definition.ts';
import { readValue } from '../saved/values.ts';

/** The parts of a dashboard. */

export interface PanelChart {
  readonly kind: PanelChartKind;
  readonly x: string | null;
  readonly y: readonly string[];
  readonly by: string | null;
}

export interface Panel {
  /** Names it among the panels of its dashboard. */
  readonly id: string;
  readonly kind: PanelKind;
  readonly title: string;
  readonly width: PanelWidth;
  /** Slug of a saved query of the same owner; null for a panel of text. */
  readonly query: string | null;
  /** Null: guessed from the columns. */
  readonly chart: PanelChart | null;
  /** What the panel says; a note below the title of the other kinds. */
  readonly text: string;
}

export interface DashboardContent {
  readonly title: string;
  readonly description: string;
  readonly panels: readonly Panel[];
}

export interface Dashboard {
  readonly owner: string;
  readonly slug: string;
  readonly content: DashboardContent;
  readonly visibility: Visibility;
  /** SHA-256 in hex of the token that opens it in a frame of another site; null without one. */
  readonly tokenDigest: string | null;
  readonly updatedAtMs: number;
}

/** What the reader of a dashboard chooses. */
export interface DashboardChoice {
  readonly period: Period;
  /** CAIP-2; undefined for every chain. */
  readonly chain: string | undefined;
  /** Undefined where none was named. */
  readonly wallet: string | undefined;
}

/** The placeholders that a dashboard fills in, by name. A query has any of them, each of a type that takes the value. */
export const BOARD_PLACEHOLDERS = ['period', 'hours', 'days', 'chain', 'wallet'] as const;
type BoardPlaceholder = (typeof BOARD_PLACEHOLDERS)[number];

const DAY_HOURS = 24;

/** The values of a query’s placeholders for a choice: what the dashboard fills in, and its own defaults. Null where one has neither. */
export function valuesFor(
  { content: { parameters } }: Pick<SavedQuery, 'content'>,
  choice: DashboardChoice,
): Readonly<Record<string, string>> | null {
  const values: Record<string, string> = {};
  for (const { name, type, standard } of parameters) {
    const given = boardValue(name, choice);
    const value = given === undefined ? standard : readValue(given, name, type);
    if (value === null) return null;
    values[name] = value;
  }
  return values;
}

function boardValue(name: string, { period, chain, wallet }: DashboardChoice): string | undefined {
  const hours = PERIOD_HOURS[period];
  const known: Readonly<Record<BoardPlaceholder, string | undefined>> = {
    period,
    hours: String(hours),
    days: String(hours / DAY_HOURS),
    chain: chain ?? EVERY_CHAIN,
    wallet,
  };
  return BOARD_PLACEHOLDERS.some((one) => one === name) ? known[name as BoardPlaceholder] : undefined; // just compared
}
