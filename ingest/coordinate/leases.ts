/**
 * Who leads something, among any number of processes. A lease is a hint that spares two processes the trouble of disturbing
 * each other; that they cannot do harm is the work of the fence (fence.ts).
 *
 * Contract:
 * - of two leases on one scope that are held at once, at most one has a signal that is not aborted, as long as the store keeps
 *   what it acknowledged and clocks run at about the same speed; their readings do not matter;
 * - a holder that cannot renew knows: its signal aborts well before anybody else can get the lease;
 * - a lease ends by `release`, or by itself when its process is gone.
 */
export interface Leases {
  /** Null when somebody else holds it, or when nobody can tell. */
  tryAcquire(scope: string): Promise<Lease | null>;
}

export interface Lease {
  readonly scope: string;
  /** Higher than that of the holder before, as far as the store remembers: the fence makes sure. */
  readonly token: bigint;
  /** Aborts when the lease is lost. */
  readonly signal: AbortSignal;
  /** Tells the store of a higher token, so that the next holder starts above it. A store that is away is no reason to fail. */
  raise(token: bigint): Promise<void>;
  /** Lets the next one in at once. */
  release(): Promise<void>;
}
