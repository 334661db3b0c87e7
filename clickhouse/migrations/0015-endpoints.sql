-- The priced directory: what bazaars of facilitators, sellers' /.well-known/x402 and files publish (protocol.md 1.10).
-- One row per way to pay a resource; `source` says who listed it. pay_to, asset and network are as published (a network that
-- we do not know has no chain). amount is in atomic units, price_usd in dollars: they are never derived from one another
-- unless the asset's decimals are known.
CREATE TABLE IF NOT EXISTS endpoint_offers
(
    resource String CODEC(ZSTD(1)),
    method LowCardinality(String),
    source LowCardinality(String),
    network LowCardinality(String),
    scheme LowCardinality(String),
    asset String CODEC(ZSTD(1)),
    pay_to String CODEC(ZSTD(1)),
    chain LowCardinality(String),
    amount Nullable(UInt256),
    price_usd Nullable(Decimal(38, 6)),
    max_timeout_seconds UInt32,
    service_name String CODEC(ZSTD(1)),
    description String CODEC(ZSTD(3)),
    mime_type LowCardinality(String),
    tags Array(LowCardinality(String)),
    capabilities Array(LowCardinality(String)),
    rule_version UInt16,
    last_updated DateTime('UTC'),
    first_seen DateTime('UTC'),
    ver UInt64,
    del UInt8,
    INDEX ix_pay_to pay_to TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX ix_capability capabilities TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (resource, method, source, network, scheme, asset, pay_to);

-- How each source answered last. A source whose last good answer is old, or whose last try failed, makes the catalogue stale.
CREATE TABLE IF NOT EXISTS endpoint_sources
(
    source LowCardinality(String),
    kind Enum8('bazaar' = 1, 'well_known' = 2, 'file' = 3),
    host String,
    tried_at DateTime('UTC'),
    good_at DateTime('UTC'),
    problem LowCardinality(String),
    items UInt64,
    ver UInt64,
    del UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY source;

-- What each catalogued payTo was paid in the last 30 days, counted anew every few minutes.
CREATE TABLE IF NOT EXISTS payee_activity
(
    pay_to String CODEC(ZSTD(1)),
    chain LowCardinality(String),
    settlement_count UInt64,
    unique_payers UInt64,
    settled_usd Decimal(38, 6),
    last_settled_at DateTime('UTC'),
    counted_at DateTime('UTC'),
    ver UInt64,
    del UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (pay_to, chain);
