/** The sold query and its author's share of the price: fixed when the money is claimed. docs/design/gate.md. */

/** The part of a charge that belongs to the author of what was called. */
export interface AuthorShare {
  readonly organizationId: string;
  /** Query Units for the author, at least 1. */
  readonly units: number;
  /** Query Units of the run, at least 1: the operator's part. */
  readonly runUnits: number;
  readonly note: string;
  /** The operation whose call was paid for. */
  readonly earnedBy: string;
}

/** What a payment was claimed for. */
export interface Sale {
  /** Query Units that its amount pays for. */
  readonly units: number;
  /** What was sold, as the gate wrote it for itself: a resumed call is served from it. The store does not read it. */
  readonly sold: string;
  readonly share: AuthorShare | null;
}

/** Grants of shares are named by what paid for them. No other grant may begin so. */
export const SALE_PREFIX = 'sale:';

/** Whether what was paid for covers the share and the run. */
export function isCovered({ units, runUnits }: AuthorShare, paidUnits: number): boolean {
  const isWhole = [units, runUnits].every((each) => Number.isSafeInteger(each) && each >= 1);
  return isWhole && units + runUnits <= paidUnits;
}

/** Throws where what was paid for does not cover the share: a bug of the caller. No share is always covered. */
export function requireCovered(share: AuthorShare | null | undefined, paidUnits: number): void {
  if (share == null || isCovered(share, paidUnits)) return;
  throw new RangeError(
    `a share of ${share.units} units, with ${share.runUnits} of the run, is not covered by the ${paidUnits} units that were paid for`,
  );
}
