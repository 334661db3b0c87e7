import type { Address } from '../../../core/domain/account.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { Verdict } from '../../../core/domain/data-quality.ts';

/** A row of a ranking, whatever is ranked. Values are in millionths, of dollars or of a count, so that one type holds every order. */
export interface RankedRow {
  /** 1 is the best. */
  readonly rank: number;
  /** In the window before; null where it was not ranked or nothing is known of it. */
  readonly previousRank: number | null;
  readonly subject: RankedSubject;
  readonly value: bigint;
  /** Null where the window before is not known. */
  readonly previousValue: bigint | null;
  readonly figures: RankedFigures;
  /** Null where payments are not judged. */
  readonly verdict: Verdict | null;
}

/** The ranked subject: exactly the fields of its kind. */
export interface RankedSubject {
  readonly wallet?: Address;
  readonly chain?: Chain;
  readonly agentId?: string;
  readonly facilitator?: string;
  readonly resource?: string;
  readonly method?: string;
  readonly payTo?: string;
  readonly name?: string;
  readonly capability?: string;
}

/** Tells the subjects of one ranking apart. */
export function subjectKey({
  chain,
  wallet,
  facilitator,
  capability,
  method,
  resource,
}: RankedSubject): string {
  if (resource !== undefined) return `${method ?? ''} ${resource}`;
  return capability ?? `${chain ?? ''} ${wallet ?? facilitator ?? ''}`;
}

/** Null where nothing is known of a figure. */
export interface RankedFigures {
  readonly organicUsdMicros: bigint | null;
  readonly provenUsdMicros: bigint | null;
  readonly organicSettlements: number | null;
  readonly counterparties: number | null;
  readonly settledUsdMicros: bigint;
  readonly settlements: number;
}
