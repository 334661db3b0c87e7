-- Facilitators' relayers per chain, each named from its first-seen date on.
CREATE TABLE IF NOT EXISTS facilitator_relayers
(
    chain LowCardinality(String),
    address FixedString(20),
    facilitator LowCardinality(String),
    facilitator_name LowCardinality(String),
    first_seen Date,
    source LowCardinality(String),
    ver UInt64,
    del UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, address);

-- payTo addresses of catalogued resources: a bare transfer to one of them is examined and shown as not_x402.
CREATE TABLE IF NOT EXISTS catalogued_payees
(
    chain LowCardinality(String),
    address FixedString(20),
    name String,
    resource String,
    source LowCardinality(String),
    ver UInt64,
    del UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, address);
