-- Analysts write `payer = '0x…'` against a view whose column is this very expression: a skip index prunes only under the
-- identical spelling (design.md 3, clickhouse/public-views.ts). A wallet that is in every granule is not pruned by any of them;
-- wallet_settlements is ordered by wallet for that.
ALTER TABLE settlements ADD INDEX IF NOT EXISTS ix_payer_text concat('0x', lower(hex(payer))) TYPE bloom_filter(0.01) GRANULARITY 1;
ALTER TABLE settlements ADD INDEX IF NOT EXISTS ix_payee_text concat('0x', lower(hex(payee))) TYPE bloom_filter(0.01) GRANULARITY 1;
ALTER TABLE settlements ADD INDEX IF NOT EXISTS ix_tx_text concat('0x', lower(hex(tx_hash))) TYPE bloom_filter(0.01) GRANULARITY 1;
ALTER TABLE settlements MATERIALIZE INDEX ix_payer_text;
ALTER TABLE settlements MATERIALIZE INDEX ix_payee_text;
ALTER TABLE settlements MATERIALIZE INDEX ix_tx_text;
