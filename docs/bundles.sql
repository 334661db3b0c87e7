-- Views of DuckDB over bundles: the daily Parquet files of a Settlement Index, as docs/bundles.md describes them.
-- Start DuckDB in the directory that holds the folders of the chains (eip155-8453/…), then: .read bundles.sql
--
-- Every view reads the newest revision of each day, as the manifests name it, and takes it from the files alone: no network, no key.

CREATE OR REPLACE VIEW bundle_files AS
SELECT chain, "table", entry.day AS day, entry.revision AS revision, entry.file AS file, entry.rows AS rows, entry.bytes AS bytes,
    entry.sha256 AS sha256, entry.snapshot.finalized_block AS finalized_block, entry.snapshot.catalogue_pass AS catalogue_pass,
    replace(chain, ':', '-') || '/' || "table" || '/' || entry.file AS path
FROM (
    SELECT chain, "table", unnest(entries) AS entry
    FROM read_json('*/*/manifest.json', format = 'unstructured', columns = {
        chain: 'VARCHAR',
        "table": 'VARCHAR',
        entries: 'STRUCT(sequence BIGINT, "day" DATE, revision INTEGER, file VARCHAR, "rows" BIGINT, bytes BIGINT, sha256 VARCHAR,
            snapshot STRUCT(finalized_block BIGINT, catalogue_pass BIGINT))[]'
    })
)
QUALIFY row_number() OVER (PARTITION BY chain, "table", entry.day ORDER BY entry.sequence DESC) = 1;

CREATE OR REPLACE VIEW settlements AS
SELECT * EXCLUDE (filename) FROM read_parquet('*/settlements/*.parquet', union_by_name = true, filename = true)
WHERE array_to_string(parse_path(filename)[-3:], '/') IN (SELECT path FROM bundle_files);

-- Every settlement once for its payer and once for its payee, as the table of this name in SQL.
CREATE OR REPLACE VIEW wallet_settlements AS
SELECT payer AS wallet, 'payer' AS role, payee AS counterparty, * EXCLUDE (payer, payee) FROM settlements
UNION ALL
SELECT payee AS wallet, 'payee' AS role, payer AS counterparty, * EXCLUDE (payer, payee) FROM settlements;

CREATE OR REPLACE VIEW merchant_days AS
SELECT * EXCLUDE (filename) FROM read_parquet('*/merchant_days/*.parquet', union_by_name = true, filename = true)
WHERE array_to_string(parse_path(filename)[-3:], '/') IN (SELECT path FROM bundle_files);

CREATE OR REPLACE VIEW payer_days AS
SELECT * EXCLUDE (filename) FROM read_parquet('*/payer_days/*.parquet', union_by_name = true, filename = true)
WHERE array_to_string(parse_path(filename)[-3:], '/') IN (SELECT path FROM bundle_files);

CREATE OR REPLACE VIEW pair_days AS
SELECT * EXCLUDE (filename) FROM read_parquet('*/pair_days/*.parquet', union_by_name = true, filename = true)
WHERE array_to_string(parse_path(filename)[-3:], '/') IN (SELECT path FROM bundle_files);

CREATE OR REPLACE VIEW facilitator_days AS
SELECT * EXCLUDE (filename) FROM read_parquet('*/facilitator_days/*.parquet', union_by_name = true, filename = true)
WHERE array_to_string(parse_path(filename)[-3:], '/') IN (SELECT path FROM bundle_files);

CREATE OR REPLACE VIEW attestations AS
SELECT * EXCLUDE (filename) FROM read_parquet('*/attestations/*.parquet', union_by_name = true, filename = true)
WHERE array_to_string(parse_path(filename)[-3:], '/') IN (SELECT path FROM bundle_files);
