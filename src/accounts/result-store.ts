/** The record of kept results: who paid for each, who may read it, until when it is kept. A part of `ControlStore` (store.ts). */

export interface ResultRecord {
  /** SHA-256 (hex) of the query, its parameters, the version of the data and the content. */
  readonly id: string;
  /** SHA-256 (hex) of the query and its parameters. */
  readonly queryKey: string;
  /** Whose room it takes: an organization, or another owner, whose id has a colon (results/room.ts). Null of earlier versions. */
  readonly organizationId: string | null;
  /** When its query began to run. */
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly bytes: number;
  /** The form of its file and the figures of its run; the store does not read it. */
  readonly facts: string;
}

export interface ResultStore {
  /**
   * Adds a result whose file is whole. The organization may read it from then on. `replayed`: it is there already, and stays as it
   * is; the organization may read it too.
   */
  add(result: ResultRecord): Promise<'added' | 'replayed'>;
  /** Lets an organization read a result that another paid for. True for the first call of an organization alone; false for an unknown result. */
  allow(reader: { readonly id: string; readonly organizationId: string }): Promise<boolean>;
  /** Null for an unknown one, and from `expiresAtMs` on. */
  find(question: { readonly id: string; readonly nowMs: number }): Promise<ResultRecord | null>;
  /** Whether the organization paid for it or was allowed to read it. */
  mayRead(reader: { readonly id: string; readonly organizationId: string }): Promise<boolean>;
  /** The newest result of the query that was created at or after `createdFromMs` and has not expired. */
  newest(question: {
    readonly queryKey: string;
    readonly createdFromMs: number;
    readonly nowMs: number;
  }): Promise<ResultRecord | null>;
  /** Those in the room of an owner, newest first and by id. */
  paidBy(page: { readonly organizationId: string; readonly limit: number }): Promise<readonly ResultRecord[]>;
  /** Those with `expiresAtMs <= nowMs`, the oldest first. */
  expired(question: { readonly nowMs: number; readonly limit: number }): Promise<readonly ResultRecord[]>;
  remove(id: string): Promise<void>;
}
