-- Facilitators by what they relayed in a window, written by the pass that ranks wallets over it and published with it (ranking_passes). Columns
-- are those of ranked_wallets; `parties` are the wallets served, payers and payees. `line_at` are the moments at which hours of the last day, or
-- else UTC days, of the window begin, with the organic settlements, dollars and proven dollars of each.
CREATE TABLE IF NOT EXISTS ranked_facilitators
(
    span LowCardinality(String),
    chain LowCardinality(String),
    facilitator String,
    organic_usd0 Decimal(38, 6),
    organic_usd1 Decimal(38, 6),
    organic_usd2 Decimal(38, 6),
    organic_proven0 Decimal(38, 6),
    organic_proven1 Decimal(38, 6),
    organic_count0 UInt64,
    organic_count1 UInt64,
    parties0 UInt64,
    parties1 UInt64,
    other_usd Decimal(38, 6),
    other_count UInt64,
    line_at Array(UInt32),
    line_count Array(UInt64),
    line_usd Array(Decimal(38, 6)),
    line_proven Array(Decimal(38, 6)),
    gen UInt64
)
ENGINE = MergeTree
PARTITION BY gen
ORDER BY (chain, facilitator);
