/** Names of the physical tables, and the columns that ingest writes, in RowBinary order. Migrations hold the types. */

export const TABLES = {
  settlements: 'settlements',
  walletLog: 'wallet_log',
  blocks: 'blocks',
  checkpoints: 'checkpoints',
  chainStatus: 'chain_status',
  deadLetters: 'dead_letters',
  facilitatorRelayers: 'facilitator_relayers',
  cataloguedPayees: 'catalogued_payees',
  hourVer: 'hour_ver',
  rollupState: 'rollup_state',
  retractedKeys: 'retracted_keys',
  payeeDay: 'payee_day',
  payerDay: 'payer_day',
  relayerDay: 'relayer_day',
  chainHour: 'chain_hour',
  relayerAccounts: 'relayer_accounts',
  builderCodes: 'builder_codes',
  depositContracts: 'deposit_contracts',
  supportedSigners: 'supported_signers',
  cataloguePasses: 'catalogue_passes',
  catalogueChanges: 'catalogue_changes',
  regradeProgress: 'regrade_progress',
  walletRings: 'wallet_rings',
  ringPasses: 'ring_passes',
  agentEvents: 'agent_events',
  attestations: 'attestations',
  agentAttestations: 'agent_attestations',
  feedbackRevocations: 'feedback_revocations',
  agentChanges: 'agent_changes',
  agentCards: 'agent_cards',
  feedbackFiles: 'feedback_files',
  agents: 'agents',
  agentsDue: 'agents_due',
  agentWallets: 'agent_wallets',
  endpointOffers: 'endpoint_offers',
  endpointSources: 'endpoint_sources',
  payeeActivity: 'payee_activity',
  endpointList: 'endpoint_list',
  fences: 'fences',
} as const;

export const SETTLEMENT_COLUMNS = [
  'chain',
  'block_number',
  'block_time',
  'block_hash',
  'tx_hash',
  'log_index',
  'payer',
  'payee',
  'asset',
  'asset_symbol',
  'amount',
  'amount_usd',
  'relayer',
  'facilitator',
  'method',
  'seen',
  'builder_facilitator',
  'builder_apps',
  'ver',
  'del',
] as const;

export const DEAD_LETTER_COLUMNS = [
  'chain',
  'block_number',
  'block_hash',
  'tx_hash',
  'log_index',
  'reason',
  'raw_log',
  'ver',
  'del',
] as const;

export const BLOCK_COLUMNS = ['chain', 'number', 'hash', 'time', 'ver'] as const;

export const FACILITATOR_RELAYER_COLUMNS = [
  'chain',
  'address',
  'facilitator',
  'facilitator_name',
  'first_seen',
  'source',
  'ver',
  'del',
] as const;

export const CATALOGUED_PAYEE_COLUMNS = [
  'chain',
  'address',
  'name',
  'resource',
  'source',
  'ver',
  'del',
] as const;

export const WALLET_RING_COLUMNS = [
  'wallet',
  'length',
  'members',
  'bottleneck_usd',
  'ring_usd',
  'window_start',
  'window_end',
  'method_version',
  'gen',
] as const;

export const BUILDER_CODE_COLUMNS = ['code', 'facilitator', 'ver', 'del'] as const;

export const DEPOSIT_CONTRACT_COLUMNS = ['address', 'name', 'listed_on', 'ver', 'del'] as const;

export const RELAYER_ACCOUNT_COLUMNS = [
  'chain',
  'address',
  'nonce',
  'gas_balance',
  'enriched_at',
  'ver',
] as const;

export const AGENT_EVENT_COLUMNS = [
  'chain',
  'agent_id',
  'block_number',
  'log_index',
  'block_time',
  'block_hash',
  'tx_hash',
  'kind',
  'account',
  'text',
  'data',
  'ver',
  'del',
] as const;

export const ATTESTATION_COLUMNS = [
  'block_time',
  'chain',
  'block_number',
  'log_index',
  'block_hash',
  'tx_hash',
  'kind',
  'agent_id',
  'author',
  'client',
  'feedback_index',
  'value',
  'value_decimals',
  'tag1',
  'tag2',
  'endpoint',
  'uri',
  'file_hash',
  'request_hash',
  'ver',
  'del',
] as const;

export const ENDPOINT_OFFER_COLUMNS = [
  'resource',
  'method',
  'source',
  'network',
  'scheme',
  'asset',
  'pay_to',
  'chain',
  'amount',
  'price_usd',
  'max_timeout_seconds',
  'service_name',
  'description',
  'mime_type',
  'tags',
  'capabilities',
  'rule_version',
  'last_updated',
  'first_seen',
  'offer_id',
  'content_id',
  'ver',
  'del',
] as const;

export const ENDPOINT_SOURCE_COLUMNS = [
  'source',
  'kind',
  'host',
  'tried_at',
  'good_at',
  'problem',
  'items',
  'ver',
  'del',
] as const;
