import { usdNumber } from '../../../core/domain/amount.ts';
import type { SqlTierId } from '../../../core/domain/plan.ts';
import type { Visibility } from '../../../core/domain/saved-query.ts';
import { type Price, SQL_QU_USD_MICROS, sqlBudget, sqlTierOf } from '../prices.ts';

/** The parts of a saved query. */

/** A placeholder of the text, as its author describes it. */
export interface SavedParameter {
  readonly name: string;
  /** As the text has it: `UInt16`. */
  readonly type: string;
  readonly description: string;
  /** As the engine reads it; null where each caller must send a value. */
  readonly standard: string | null;
  /** A value for documentation, and for judging where there is no default. */
  readonly example: string | null;
}

/** A version: it never changes. */
export interface SavedContent {
  readonly title: string;
  readonly description: string;
  /** As its author wrote it. */
  readonly sql: string;
  readonly parameters: readonly SavedParameter[];
  readonly tier: SqlTierId;
  /** The most that one run may cost, and so the time that it has. */
  readonly maxQu: number;
  readonly maxRows: number;
  /** How old an answer may be. */
  readonly freshnessSeconds: number;
}

/** What holds for all versions, from the moment that it is set. */
export interface SavedSettings {
  readonly visibility: Visibility;
  /** Whether only the organization itself sees the text. */
  readonly hidesText: boolean;
  /** What the author gets for each call of others. */
  readonly priceQu: number;
  /** How often its result is made anew; null for never. */
  readonly refreshSeconds: number | null;
  /** The key that had it made anew, in whose name it is; null for a bearer token, and absent without a refresh: the organization. */
  readonly scheduledBy?: string | null;
}

/** One version of a query, with what holds for all of them. */
export interface SavedQuery {
  readonly organizationId: string;
  readonly owner: string;
  readonly slug: string;
  readonly version: number;
  readonly latestVersion: number;
  readonly content: SavedContent;
  readonly settings: SavedSettings;
  readonly createdAtMs: number;
  readonly versionCreatedAtMs: number;
  readonly updatedAtMs: number;
  /** When its result is made anew next; null without a refresh. */
  readonly nextRefreshAtMs: number | null;
}

/** What lists show of a query: short, whatever its author wrote. */
export interface ListedQuery
  extends Pick<SavedQuery, 'organizationId' | 'owner' | 'slug' | 'version' | 'updatedAtMs'> {
  readonly title: string;
  /** Its beginning. */
  readonly description: string;
  readonly tier: SqlTierId;
  readonly maxQu: number;
  readonly priceQu: number;
  readonly visibility: Visibility;
  /** Names of the first ones. */
  readonly parameters: readonly string[];
}

/** The same in 0040-query-listing.sql and read-listing.lua, for queries that were saved before. */
const LISTED_DESCRIPTION_CHARS = 300;
const LISTED_PARAMETERS = 20;

export function listingOf(
  { title, description, tier, maxQu, parameters }: SavedContent,
  { visibility, priceQu }: SavedSettings,
): Omit<ListedQuery, 'organizationId' | 'owner' | 'slug' | 'version' | 'updatedAtMs'> {
  return {
    title,
    description: [...description].slice(0, LISTED_DESCRIPTION_CHARS).join(''),
    tier,
    maxQu,
    parameters: parameters.slice(0, LISTED_PARAMETERS).map(({ name }) => name),
    visibility,
    priceQu,
  };
}

/** What decides the price of a query. */
type RunTerms = Pick<SavedContent, 'tier' | 'maxQu'>;
type Sold = Pick<SavedSettings, 'priceQu'>;

/** What a call of others costs at most: the run, and the author's price. */
export function soldQu({ tier, maxQu }: RunTerms, { priceQu }: Sold): number {
  return callQu({ tier, maxQu }) + priceQu;
}

/** Units of a run that a connection waits for: fewer than for a job. */
export function callQu({ tier, maxQu }: Pick<SavedContent, 'tier' | 'maxQu'>): number {
  return Math.min(maxQu, sqlBudget(sqlTierOf(tier)).maxQu);
}

/** An answer from a kept result, without the author's price. */
export const WARM_QU = 1;

/** What others pay: by use with units, and over x402 a fixed price, whether the result is there or must be made. */
export function soldPrice(content: RunTerms, settings: Sold): Price {
  const qu = soldQu(content, settings);
  const x402UsdMicros = BigInt(qu) * SQL_QU_USD_MICROS;
  return {
    class: 'metered',
    qu,
    x402UsdMicros,
    meaning: `${WARM_QU + settings.priceQu} to ${qu} QU by use, or ${usdNumber(x402UsdMicros)} USD over x402; ${settings.priceQu} QU of it go to the author.`,
  };
}
