/** Answers of the SQL routes as the page reads them. Source: src/operations/sql/shapes.ts, get-sql-schema.ts. */

export interface SqlColumn {
  readonly name: string;
  /** The engine’s type, such as `Nullable(Decimal(38, 6))`. */
  readonly type: string;
}

/** Of `json_compact`. Integers of 64 bits and more and decimals are texts. */
export interface SqlResult {
  readonly columns: readonly SqlColumn[];
  readonly rows: readonly (readonly unknown[])[];
  readonly row_count: number;
  readonly truncated: boolean;
  readonly duration_ms: number;
  readonly statistics: {
    readonly rows_read: number;
    readonly bytes_read: number;
    readonly memory_bytes: number;
  };
  readonly usage: {
    readonly query_tier: string;
    readonly units_held: number;
    readonly units_charged: number;
    readonly balance: number | null;
  };
  readonly sql: string;
  readonly warnings?: readonly SqlWarning[];
}

export interface SqlWarning {
  readonly code: string;
  readonly message: string;
  /** The constant that it is about. */
  readonly near?: string;
  /** The literal to write in the place that the warning is about. */
  readonly replacement?: string;
}

export interface SqlEstimate {
  readonly tables: readonly string[];
  readonly estimate: {
    readonly rows_to_read: number | null;
    readonly bytes_to_read: number | null;
    readonly qu_min: number;
    readonly qu_max: number;
  };
  readonly tier: string;
  readonly advised_tier: string;
  readonly warnings: readonly SqlWarning[];
}

export interface SchemaTable {
  readonly name: string;
  readonly meaning: string;
  readonly row_count: number;
  readonly cheap_by: readonly string[];
  readonly columns: readonly { readonly name: string; readonly type: string; readonly meaning: string }[];
}

/** Of `table=*&functions=*`. */
export interface SqlSchema {
  readonly tables: readonly SchemaTable[];
  readonly functions: readonly string[];
  readonly table_functions: readonly string[];
  readonly limits: { readonly formats: readonly { readonly format: string; readonly max_rows: number }[] };
  readonly examples: readonly { readonly question: string; readonly sql: string }[];
}

/** What is asked: the text and everything that belongs to it. */
export interface SqlQuestion {
  readonly sql: string;
  readonly tier: string;
  /** Values of the placeholders, as texts. */
  readonly params: Readonly<Record<string, string>>;
}
