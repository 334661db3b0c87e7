-- The catalogue's changes and how far the rows have followed them (ingest/regrade).

-- ERC-8021 facilitator codes, published as the other catalogues are.
CREATE TABLE IF NOT EXISTS builder_codes
(
    code LowCardinality(String),
    facilitator LowCardinality(String),
    ver UInt64,
    del UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY code;

-- What facilitators' /supported answers showed, with the first day of each: the day must survive a restart.
CREATE TABLE IF NOT EXISTS supported_signers
(
    facilitator LowCardinality(String),
    chain LowCardinality(String),
    address FixedString(20),
    first_seen SimpleAggregateFunction(min, Date)
)
ENGINE = AggregatingMergeTree
ORDER BY (facilitator, chain, address);

-- One row per claim of a number: a number with two claims belongs to nobody.
CREATE TABLE IF NOT EXISTS catalogue_passes
(
    pass UInt32,
    owner String,
    created_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree
ORDER BY (pass, owner);

-- The keys that a pass must look at, written before the catalogue itself changes.
CREATE TABLE IF NOT EXISTS catalogue_changes
(
    pass UInt32,
    kind Enum8('relayer' = 1, 'payee' = 2, 'code' = 3),
    chain LowCardinality(String),
    address FixedString(20),
    code String,
    created_at DateTime('UTC') DEFAULT now()
)
ENGINE = ReplacingMergeTree
ORDER BY (pass, kind, chain, address, code);

-- How far each pass is: every row from `done_from` on follows it. Hours are swept newest first.
CREATE TABLE IF NOT EXISTS regrade_progress
(
    pass UInt32,
    done_from DateTime('UTC'),
    rows_looked_at UInt64,
    rows_total UInt64,
    rows_changed UInt64,
    finished UInt8,
    updated_at DateTime64(3, 'UTC') DEFAULT now64(3),
    ver UInt64
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY pass;
