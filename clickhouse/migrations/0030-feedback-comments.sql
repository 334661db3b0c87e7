-- What the client says in words in the file of its feedback, cleaned and bounded; '' where the file says nothing, or is not the one that
-- was logged. comment_rule: the rule by which it was read; 0 for files that an older release fetched, which are fetched once more for it.
ALTER TABLE feedback_files ADD COLUMN IF NOT EXISTS comment String CODEC(ZSTD(3));
ALTER TABLE feedback_files ADD COLUMN IF NOT EXISTS comment_rule UInt8;
ALTER TABLE agent_feedback_files ADD COLUMN IF NOT EXISTS comment String CODEC(ZSTD(3));
ALTER TABLE agent_feedback_files ADD COLUMN IF NOT EXISTS comment_rule UInt8;
