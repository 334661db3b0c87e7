-- No question about a wallet needs the hash of the block: it was a third of the table, 64 bytes a settlement, and does not compress.
-- The column stays, empty: the first migration names it.
ALTER TABLE wallet_log_mv MODIFY QUERY
SELECT
    concat('0x', lower(hex(if(role = 'payer', payer, payee)))) AS wallet,
    CAST(role, 'Enum8(\'payer\' = 1, \'payee\' = 2)') AS role,
    chain, block_number, block_time, tx_hash, log_index,
    if(role = 'payer', payee, payer) AS counterparty,
    asset, asset_symbol, amount, amount_usd, relayer, facilitator, method, seen, ver, del
FROM settlements
ARRAY JOIN ['payer', 'payee'] AS role;

ALTER TABLE wallet_log CLEAR COLUMN IF EXISTS block_hash;
