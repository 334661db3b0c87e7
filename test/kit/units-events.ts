import type { UnitBalance } from '../../core/domain/plan.ts';
import type { UsageRow } from '../../core/domain/usage.ts';
import type { Hold, LedgerEntry } from '../../src/accounts/unit-store.ts';
import type { ControlPlace } from './open-control.ts';

/** The orders of the units child, and its notes before it is killed. */
export interface UnitsOrders {
  readonly store: ControlPlace;
  /** A line of JSON for each event. What was written survives the process. */
  readonly eventsFile: string;
  /** Makes ids unique across processes. */
  readonly name: string;
  /** Whether to go on after the holds were given back. */
  readonly works: boolean;
}

/** The change that is to become a row of the ledger. */
export type Intent = Pick<LedgerEntry, 'kind' | 'subject' | 'units' | 'note' | 'atMs'>;

/** What a store holds of the organization. */
export interface Books {
  readonly rows: readonly LedgerEntry[];
  readonly balance: UnitBalance | null;
  readonly open: readonly Hold[];
  readonly usage: readonly UsageRow[];
  /** Units that the limited key has begun calls with. */
  readonly keyUsed: number;
  /** Of captures, granted to the author: the hold of each, and its units. */
  readonly shares: readonly string[];
}

export type UnitsEvent =
  | ({ readonly type: 'found' } & Books)
  | { readonly type: 'intent'; readonly number: number; readonly intent: Intent }
  /** `changed`: the call says that it did what was meant, now. */
  | { readonly type: 'answer'; readonly number: number; readonly outcome: string; readonly changed: boolean }
  | { readonly type: 'swept' };

export const CRASHING_ORGANIZATION = 'org:{crash}';
/** Its key. All calls come with it. */
export const CRASHING_KEY = 'key_{crash}';
/** Gets all that is captured, as a share. */
export const CRASHING_AUTHOR = 'org:{author}';
export const SWEPT_NOTE = 'its process died';
