-- The short form of a query that lists show, and of a public one its place in the list of all: handle and slug.
ALTER TABLE saved_query ADD COLUMN listing TEXT NOT NULL DEFAULT '{}';
ALTER TABLE saved_query ADD COLUMN listed_at TEXT;

CREATE INDEX saved_query_listed ON saved_query (listed_at) WHERE listed_at IS NOT NULL;
DROP INDEX saved_query_public;

UPDATE saved_query SET listing = (
  SELECT json_object(
    'title', json_extract(content, '$.title'),
    'description', substr(json_extract(content, '$.description'), 1, 300),
    'tier', json_extract(content, '$.tier'),
    'maxQu', json_extract(content, '$.maxQu'),
    'parameters', (SELECT json_group_array(json_extract(value, '$.name')) FROM json_each(content, '$.parameters') WHERE key < 20),
    'visibility', json_extract(settings, '$.visibility'),
    'priceQu', json_extract(settings, '$.priceQu'))
  FROM saved_query_version AS v
  WHERE v.organization_id = saved_query.organization_id AND v.slug = saved_query.slug AND v.version = saved_query.latest_version)
WHERE settings IS NOT NULL AND json_valid(settings)
  AND EXISTS (SELECT 1 FROM saved_query_version AS v WHERE v.organization_id = saved_query.organization_id
    AND v.slug = saved_query.slug AND v.version = saved_query.latest_version AND json_valid(v.content));
UPDATE saved_query SET listed_at = (SELECT handle FROM organization WHERE id = organization_id) || ' ' || slug WHERE is_public = 1;
