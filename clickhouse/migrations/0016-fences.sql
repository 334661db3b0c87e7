-- Who may write what (clickhouse/guard.ts): a write under a lease carries its token, and the engine refuses it once a higher one
-- stands here for its scope. A token is claimed by a row and never taken back. `beat_at` is the engine's clock, never a process's.
CREATE TABLE IF NOT EXISTS fences
(
    scope String,
    token UInt64,
    owner String,
    ended UInt8,
    beat_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(beat_at)
ORDER BY (scope, token, owner);
