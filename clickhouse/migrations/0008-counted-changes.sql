-- A slice is dirty when something was written since it was rolled up, not when something newer was: two chains write at once,
-- and the insert with the lower `ver` may land last, after a rollup that had seen the higher one. So changes are counted.
-- `ver` stays, for the time of the newest change.

-- Inserts that touched the hour, ever. Nobody writes it: each row of hour_ver that is inserted, by the view or by a statement
-- that marks an hour, brings its one. More than there were is harmless.
ALTER TABLE hour_ver ADD COLUMN IF NOT EXISTS writes SimpleAggregateFunction(sum, UInt64) MATERIALIZED 1;

-- The sum over the slice, read before its rows were; 0: computed without effect, and dirty.
ALTER TABLE rollup_state ADD COLUMN IF NOT EXISTS writes UInt64 DEFAULT 0;

-- Every slice that has rows, in the form that it is closed in; dirty while `ver` > `rolled_ver`. `rolled_ver` is `ver` when
-- every write is rolled up, otherwise 0. The worker and the API both ask here, so that there is one definition of dirty.
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
LEFT JOIN (SELECT day, hour AS slice, writes FROM rollup_state FINAL) AS done USING (day, slice);
