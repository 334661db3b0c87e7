/** Tables of an organization's own, with their rows. A part of `ControlStore` (store.ts), under the same rules. */

export interface OwnTableRecord {
  readonly organizationId: string;
  readonly name: string;
  /** Another one for each upload. */
  readonly id: string;
  /** The store does not read it. */
  readonly facts: string;
  /** What counts against the quota: the size of the rows before they were packed. */
  readonly bytes: number;
  readonly atMs: number;
}

export interface OwnTableStore {
  /**
   * Keeps a table, in place of the one of its name. `too_many` tables, or `too_large` together: nothing changes. The same id again
   * changes nothing more.
   */
  put(
    table: OwnTableRecord & {
      readonly content: Uint8Array;
      readonly tablesMax: number;
      readonly bytesMax: number;
    },
  ): Promise<'created' | 'replaced' | 'too_many' | 'too_large' | 'unknown_organization'>;
  /** By name. */
  list(organizationId: string): Promise<readonly OwnTableRecord[]>;
  /** The content of that upload; null where it was replaced or removed. */
  content(table: Pick<OwnTableRecord, 'organizationId' | 'name' | 'id'>): Promise<Uint8Array | null>;
  /** False where there was none. */
  remove(table: Pick<OwnTableRecord, 'organizationId' | 'name'>): Promise<boolean>;
}
