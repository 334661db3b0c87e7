-- What a relayer's account held when it was last read from the chain. Not part of any figure: a failing node leaves old rows.
CREATE TABLE IF NOT EXISTS relayer_accounts
(
    chain LowCardinality(String),
    address FixedString(20),
    nonce UInt64,
    gas_balance UInt256,
    enriched_at DateTime('UTC'),
    ver UInt64
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY (chain, address);
