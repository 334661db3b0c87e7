-- What of a pair's payments is dust (core/domain/data-quality.ts): counted in every figure, and left out where wallets are judged. Nearly all
-- rows have none.
ALTER TABLE pair_day ADD COLUMN IF NOT EXISTS dust_count UInt64 CODEC(ZSTD(1)) AFTER other_usd,
    ADD COLUMN IF NOT EXISTS dust_proven_usd Decimal(38, 6) CODEC(ZSTD(1)) AFTER dust_count,
    ADD COLUMN IF NOT EXISTS dust_other_usd Decimal(38, 6) CODEC(ZSTD(1)) AFTER dust_proven_usd;

ALTER TABLE pair_day_by_payee ADD COLUMN IF NOT EXISTS dust_count UInt64 CODEC(ZSTD(1)) AFTER other_usd,
    ADD COLUMN IF NOT EXISTS dust_proven_usd Decimal(38, 6) CODEC(ZSTD(1)) AFTER dust_count,
    ADD COLUMN IF NOT EXISTS dust_other_usd Decimal(38, 6) CODEC(ZSTD(1)) AFTER dust_proven_usd;

ALTER TABLE pair_day_by_payee_mv MODIFY QUERY
SELECT payee, payer, day, hour, chain, settlement_count, proven_count, proven_usd, other_usd, dust_count, dust_proven_usd, dust_other_usd,
    first_second, span, gen
FROM pair_day;

-- As before: every slice that has rows, in the form that it is closed in, dirty while `ver` > `rolled_ver`; one that was computed by a
-- release without these columns is dirty.
CREATE OR REPLACE VIEW rollup_slices AS
SELECT day, slice AS hour, changed.ver AS ver, changed.writes AS writes, if(changed.writes = done.writes, changed.ver, 0) AS rolled_ver
FROM
(
    SELECT toDate(hour) AS day,
        if(day IN (SELECT day FROM rollup_state WHERE hour >= 0), toInt8(toHour(hour)), toInt8(-1)) AS slice,
        max(hour_ver.ver) AS ver,
        sum(hour_ver.writes) AS writes
    FROM hour_ver
    GROUP BY day, slice
) AS changed
LEFT JOIN (SELECT day, hour AS slice, if(figures = 2, writes, 0) AS writes FROM rollup_state FINAL) AS done USING (day, slice);
