/** What is known of the stored settlements, so that a statement over them need not look it up; at most a second old. */
export interface TableConstants {
  /** Months whose copy is current. */
  readonly copies: readonly {
    /** Unix seconds: its rows from here, and until there. */
    readonly from: number;
    readonly until: number;
    readonly generation: string;
  }[];
  /** The newest final block of each chain that has one. */
  readonly finalBlocks: readonly { readonly chain: string; readonly block: string }[];
}
