/**
 * The answers of the API as the console reads them: only the fields that are shown. `test/unit/console-wire.test.ts` holds them
 * against the declarations of the operations, so a field that changes there does not compile here.
 */

export interface ChainFreshness {
  readonly chain: string;
  readonly indexed_block: number | null;
  readonly indexed_at: string | null;
  readonly head_block: number | null;
  readonly finalized_block: number | null;
  readonly lag_seconds: number | null;
}

export interface Meta {
  readonly chain: string | null;
  readonly as_of: string;
  readonly freshness: { readonly chains: readonly ChainFreshness[] };
  readonly warnings?: readonly string[];
  /** On an empty list: null when nothing was ever written. */
  readonly dataset_last_written_at?: string | null;
  readonly dataset_row_count?: number;
}

export interface Evidence {
  readonly verified: boolean | null;
  readonly method: string;
  readonly probability: number | null;
  readonly tier: string;
  readonly reasons: readonly string[];
}

export interface Settlement {
  readonly chain: string;
  readonly block_number: number;
  readonly block_time: string;
  readonly tx_hash: string;
  readonly log_index: number;
  readonly payer: string;
  readonly payee: string;
  readonly asset_symbol: string;
  readonly amount: string;
  readonly amount_usd: number;
  readonly relayer: string;
  readonly facilitator: string | null;
  readonly is_self_payment: boolean;
  readonly finality: string;
  readonly evidence: Evidence;
}

/** With the names that `/transactions` does not look up. */
export interface NamedSettlement extends Settlement {
  readonly payer_name?: string | null;
  readonly payee_name?: string | null;
  readonly facilitator_name?: string | null;
}

interface CursorPage {
  readonly next_before: string | null;
  readonly meta: Meta;
}

interface OffsetPage {
  readonly next_offset: number | null;
  readonly meta: Meta;
}

export interface FlowsAnswer extends CursorPage {
  readonly flows: readonly NamedSettlement[];
}

export interface TransactionsAnswer extends CursorPage {
  readonly transactions: readonly NamedSettlement[];
}

export interface EntitySettlementsAnswer extends CursorPage {
  readonly wallet: string;
  readonly settlements: readonly NamedSettlement[];
}

export interface Agent {
  readonly chain: string;
  readonly agent_id: string;
  readonly owner: string;
  readonly wallet: string | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly agent_uri: string | null;
  readonly services: readonly {
    readonly name: string;
    readonly endpoint: string;
    readonly version: string;
  }[];
  readonly capabilities: readonly string[];
  readonly supported_trust: readonly string[];
  readonly x402_support: boolean;
  readonly active: boolean | null;
  readonly score: number | null;
  readonly rating_count: number;
  readonly rating_clients: number;
  readonly paid_score: number | null;
  readonly paid_rating_count: number;
  readonly paid_rating_clients: number;
  readonly tag_scores: readonly {
    readonly tag: string | null;
    readonly mean: number;
    readonly is_rating: boolean;
    readonly feedback_count: number;
    readonly distinct_clients: number;
  }[];
  readonly feedback_count: number;
  readonly distinct_clients: number;
  readonly registered_at: string;
  readonly last_activity_at: string;
  readonly activity_status: string;
  readonly card: {
    readonly status: string;
    readonly problem: string | null;
    readonly fetched_at: string | null;
  };
  readonly domain: string | null;
  readonly domain_proof: string;
}

export interface AgentsAnswer extends CursorPage {
  readonly agents: readonly Agent[];
}

export interface RankedAgent extends Agent {
  readonly rank: number;
}

export interface LeaderboardAnswer extends OffsetPage {
  readonly leaderboard: readonly RankedAgent[];
  readonly meta: Meta & { readonly page_scored_agents: number; readonly ranked_at: string };
}

export interface Day {
  readonly date: string;
  readonly inbound_usd: number;
  readonly inbound_count: number;
  readonly outbound_usd: number;
  readonly outbound_count: number;
}

export interface Aggregates {
  readonly inbound_usd: number;
  readonly inbound_count: number;
  readonly outbound_usd: number;
  readonly outbound_count: number;
  readonly distinct_counterparties: number;
  readonly self_payment_usd: number;
  readonly organic_usd: number;
  readonly proven_usd: number;
  readonly daily: readonly Day[];
  readonly basis: { readonly distinct_counterparties: string; readonly signals: string };
}

export interface Signal {
  readonly id: string;
  readonly value: number | null;
  readonly threshold: number;
  readonly triggered: boolean;
  readonly note?: string;
}

export interface DataQuality {
  readonly verdict: string;
  readonly note: string;
  readonly signals: readonly Signal[];
}

export interface Entity {
  readonly kind: string;
  readonly chain: string;
  readonly name: string | null;
  readonly source: string;
  readonly resource?: string;
  readonly facilitator?: string;
}

export interface ProfileAnswer {
  readonly wallet: string;
  readonly role: string;
  readonly coverage: {
    readonly known: boolean;
    readonly first_seen: string | null;
    readonly last_seen: string | null;
    readonly settlements_scanned: number;
    readonly scan_truncated: boolean;
  };
  readonly entities: readonly Entity[];
  readonly erc8004_agents: readonly Agent[];
  readonly erc8004_agents_total: number;
  readonly aggregates: Aggregates;
  readonly data_quality: DataQuality;
  readonly meta: Meta;
}

export interface GraphNode {
  readonly wallet: string;
  readonly name: string | null;
  readonly window_usd: number;
  readonly window_count: number;
  readonly in_usd: number;
  readonly out_usd: number;
}

export interface GraphEdge {
  readonly payer: string;
  readonly payee: string;
  readonly usd: number;
  readonly count: number;
  readonly last_seen: string;
}

export interface GraphAnswer {
  readonly complete: boolean;
  readonly since: string | null;
  readonly until: string | null;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  readonly meta: Meta & {
    readonly excluded: { readonly self_payments: number; readonly self_payment_usd: number };
  };
}

export interface Relayer {
  readonly address: string;
  readonly chain: string;
  readonly facilitator?: string;
  readonly facilitator_name?: string;
  readonly settlement_count: number;
  readonly settled_usd: number;
  readonly distinct_payers: number;
  readonly distinct_payees: number;
  readonly first_seen: string;
  readonly last_seen: string;
  readonly nonce?: number;
  readonly gas_balance?: string;
  readonly enriched_at?: string;
}

export interface FacilitatorsAnswer extends OffsetPage {
  readonly facilitators: readonly Relayer[];
}

interface ObservedPayments {
  readonly settlement_count_30d: number;
  readonly unique_payers_30d: number;
  readonly settled_usd_30d: number;
  readonly last_settled_at: string | null;
}

export interface Endpoint {
  readonly resource: string;
  readonly method: string;
  readonly service_name: string | null;
  readonly description: string | null;
  readonly price_usd: number | null;
  readonly pay_to: string;
  readonly network: string;
  readonly capabilities: readonly string[];
  readonly last_updated: string | null;
  readonly published_by_domain: boolean;
  readonly contested: boolean;
  readonly claimants: readonly { readonly pay_to: string; readonly settlement_count_30d: number }[];
  readonly observed: ObservedPayments & { readonly since: string; readonly resources_on_same_terms: number };
  readonly payee_observed: ObservedPayments;
  readonly shared_pay_to: boolean;
  readonly stale: boolean;
}

export interface EndpointSource {
  readonly source: string;
  readonly kind: string;
  readonly host: string | null;
  readonly offers: number;
  readonly good_at: string | null;
  readonly problem: string | null;
  readonly stale: boolean;
}

export interface EndpointsAnswer extends OffsetPage {
  readonly endpoints: readonly Endpoint[];
}

export interface Capability {
  readonly slug: string;
  readonly name: string;
  readonly group?: string;
  readonly unit?: string;
  readonly summary?: string;
  readonly provider_count: number;
  readonly endpoint_count?: number;
  readonly agent_count?: number;
}

export interface CapabilitiesAnswer {
  readonly capabilities: readonly Capability[];
}

export interface CapabilityAnswer {
  readonly capability: Capability;
  readonly going_rate: {
    readonly p25_usd: number;
    readonly p50_usd: number;
    readonly p75_usd: number;
    readonly offers: number;
  } | null;
  readonly offers: readonly Endpoint[];
  readonly offers_total: number;
  readonly agents: readonly {
    readonly chain: string;
    readonly agent_id: string;
    readonly name: string | null;
    readonly wallet: string | null;
    readonly x402_support: boolean;
    readonly score: number | null;
    readonly feedback_count: number;
  }[];
}

export interface ListedWallet {
  readonly wallet: string;
  readonly name: string | null;
  readonly roles: readonly string[];
  readonly settlement_count: number;
  readonly first_seen: string;
  readonly last_seen: string;
}

export interface WalletsAnswer extends CursorPage {
  readonly wallets: readonly ListedWallet[];
}
