-- No answer, view, retraction or check reads the hash of a settlement's block: it was 22 of 97 bytes a settlement, because it
-- does not compress. `blocks` holds the hashes that a reorg is found by. The column stays, empty: the first migration names it, and
-- workers of the version before still write it during an upgrade.
ALTER TABLE settlements MODIFY COLUMN block_hash FixedString(32) DEFAULT toFixedString('', 32) CODEC(ZSTD(1));
ALTER TABLE settlements CLEAR COLUMN IF EXISTS block_hash;
