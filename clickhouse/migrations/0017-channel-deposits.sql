-- Transfers to a channel collector or an escrow get a method of their own, whose tier is not_x402. Codes are never reused, so the
-- lists by code grow at their end (src/domain/evidence.ts). The wallet log first: a view writes into it what settlements hold.
ALTER TABLE wallet_log MODIFY COLUMN method Enum8('not_examined' = 0, 'bare_transfer' = 1, 'self_relayed' = 2, 'gasless_authorization' = 3, 'catalogued_payee' = 4, 'builder_code' = 5, 'facilitator_relay' = 6, 'channel_deposit' = 7) CODEC(ZSTD(1));
ALTER TABLE settlements MODIFY COLUMN method Enum8('not_examined' = 0, 'bare_transfer' = 1, 'self_relayed' = 2, 'gasless_authorization' = 3, 'catalogued_payee' = 4, 'builder_code' = 5, 'facilitator_relay' = 6, 'channel_deposit' = 7) CODEC(ZSTD(1));
ALTER TABLE settlements MODIFY COLUMN evidence_tier LowCardinality(String)
    MATERIALIZED ['ungraded', 'not_x402', 'unproven', 'unproven', 'probable', 'probable', 'proven', 'not_x402'][toUInt8(method) + 1];

-- Known collectors and escrows (ingest/catalogues/deposit-contracts.ts), published as the other catalogues are: a table that gains an
-- entry, as every one does when an older index is opened by this version, has the rows regraded.
CREATE TABLE IF NOT EXISTS deposit_contracts
(
    address FixedString(20),
    name String,
    listed_on Date,
    ver UInt64,
    del UInt8
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY address;

ALTER TABLE catalogue_changes MODIFY COLUMN kind Enum8('relayer' = 1, 'payee' = 2, 'code' = 3, 'deposit' = 4);
