/** Units that are set aside for a call or a job, until they are captured or released. */
export interface Hold {
  readonly organizationId: string;
  readonly holdId: string;
  readonly units: number;
  readonly operation: string;
  readonly heldAtMs: number;
  /** From then on its call counts as dead, and the sweeper gives the hold back. */
  readonly overdueAtMs: number;
  /** The key that the call came with; absent or null for a bearer token. */
  readonly keyId?: string | null;
}
