import type { ChainFreshness, EndpointSource } from './wire.ts';

/** The answers about the service itself: its health, and what the caller may do and pay. Checked like `wire.ts`. */

export interface ChainTelemetry extends ChainFreshness {
  readonly state: string;
  readonly sample_data_to: number | null;
  readonly provider: string;
  readonly backfill: {
    readonly blocks_done: number;
    readonly blocks_total: number;
    readonly percent: number | null;
    readonly eta_seconds: number | null;
  };
  readonly rows_per_second: number;
  readonly blocks_per_second: number;
  readonly rows_written: number;
  readonly reorgs: number;
  readonly deepest_reorg: number;
  readonly retries: number;
  readonly contradictions: number;
  readonly dead_letters: number;
  readonly last_error: string | null;
  readonly last_written_at: string | null;
  readonly reported_at: string | null;
}

export interface FileCounts {
  readonly good: number;
  readonly failed: number;
  readonly due: number;
  readonly problems: readonly { readonly problem: string; readonly count: number }[];
}

export interface IdentityTelemetry {
  readonly chain: string;
  readonly agents: number;
  readonly agents_due: number;
  readonly attestations: number;
  readonly cards: FileCounts & { readonly none: number };
  readonly feedback_files: FileCounts & { readonly new: number };
}

export interface TelemetryAnswer {
  readonly status: string;
  readonly version: string;
  readonly uptime_seconds: number;
  readonly engine: {
    readonly status: string;
    readonly uptime_seconds: number | null;
    readonly answered_at: string | null;
  };
  readonly sql: { readonly open_to: string };
  readonly chains: readonly ChainTelemetry[];
  readonly rollups: {
    readonly open_slices: number;
    readonly oldest_open_at: string | null;
    readonly last_closed_at: string | null;
  } | null;
  readonly identities: {
    readonly chains: readonly IdentityTelemetry[];
    readonly endpoint_sources: readonly EndpointSource[];
    readonly counted_at: string;
  } | null;
  readonly warnings: readonly string[];
  readonly as_of: string;
}

export interface PricedRoute {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly qu: number | null;
  readonly x402_usd: number;
  /** Null for a fixed price. */
  readonly range: PriceRange | null;
}

export interface PriceRange {
  readonly unit: string;
  readonly qu: { readonly min: number; readonly max: number; readonly per_unit: number };
  readonly x402_usd: { readonly min: number; readonly max: number; readonly per_unit: number };
}

export interface SqlTierAccess {
  readonly tier: string;
  readonly timeout_seconds: number;
  readonly max_qu: number;
  readonly requests_per_minute: number;
  readonly allowed: boolean;
  readonly available: boolean;
  readonly note: string | null;
}

export interface AccountAnswer {
  readonly authenticated: boolean;
  readonly key_present: boolean;
  readonly key_recognised: boolean | null;
  readonly tier: string;
  readonly plan: string | null;
  readonly lane: string;
  readonly organisation: { readonly id: string; readonly display_name: string } | null;
  readonly balance: {
    readonly available_qu: number;
    readonly low_balance_threshold_qu: number;
    readonly low_balance: boolean;
  } | null;
  readonly balance_note?: string;
  readonly metered_routes: readonly PricedRoute[];
  readonly sql_tiers: readonly SqlTierAccess[];
  readonly top_up_url: string;
  readonly as_of: string;
  readonly summary: string;
}
