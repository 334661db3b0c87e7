-- The priced directory: what bazaars of facilitators, sellers' /.well-known/x402 and files publish (protocol.md 1.10).
-- One row per way to pay a resource; `source` says who listed it. pay_to, asset and network are as published (a network that
-- we do not know has no chain). amount is in atomic units, price_usd in dollars: they are never derived from one another
-- unless the asset's decimals are known. `offer_id` and `content_id` are digests of the key and of everything else that was
-- published: a listing is compared by them, so that only what changed is written. last_updated is 1970 where none was given.
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
    offer_id UInt128,
    content_id UInt128,
    ver UInt64,
    del UInt8,
    INDEX ix_pay_to pay_to TYPE bloom_filter(0.001) GRANULARITY 1,
    INDEX ix_capability capabilities TYPE bloom_filter(0.001) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (resource, method, source, network, scheme, asset, pay_to)
-- A page names fifty resources from all over the table.
SETTINGS index_granularity = 256;

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

-- The directory as it is listed: one row per resource and method, with everything that it is filtered and ordered by. Derived
-- from endpoint_offers and payee_activity by the engine; `content` is a digest of the row, so that only changes are written.
-- pay_to, network and price_usd are those of the cheapest offer; the counts are those of all its addresses. `offers` is the list
-- of its offers in JSON, cheapest first, so that a page is one reading.
CREATE TABLE IF NOT EXISTS endpoint_list
(
    resource String CODEC(ZSTD(1)),
    method LowCardinality(String),
    service_name String CODEC(ZSTD(1)),
    description String CODEC(ZSTD(3)),
    mime_type LowCardinality(String),
    tags Array(LowCardinality(String)),
    capabilities Array(LowCardinality(String)),
    pay_to String CODEC(ZSTD(1)),
    network LowCardinality(String),
    price_usd Nullable(Decimal(38, 6)),
    pay_tos Array(String) CODEC(ZSTD(1)),
    networks Array(LowCardinality(String)),
    chains Array(LowCardinality(String)),
    sources Array(LowCardinality(String)),
    offers String CODEC(ZSTD(3)),
    search_text String CODEC(ZSTD(1)),
    shared_pay_to UInt8,
    settlement_count UInt64,
    unique_payers UInt64,
    settled_usd Decimal(38, 6),
    last_settled_at DateTime('UTC'),
    last_updated DateTime('UTC'),
    content UInt64,
    ver UInt64,
    del UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (resource, method)
SETTINGS index_granularity = 256;
