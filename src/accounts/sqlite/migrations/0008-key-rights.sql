-- What a key was given beyond reading and spending, a JSON list; NULL: what follows from its other limits.
ALTER TABLE api_key ADD COLUMN rights TEXT;

-- The key that a job was asked for with; NULL for a bearer token.
ALTER TABLE job ADD COLUMN key_id TEXT;
UPDATE job SET key_id = json_extract(request, '$.hold.keyId');
CREATE INDEX job_of_key ON job (organization_id, key_id, created_at_ms DESC, id) WHERE key_id IS NOT NULL;
