-- A settlement whose outcome is not known: since when no process works on it, and which transaction the facilitator named.
ALTER TABLE payment ADD COLUMN left_open_at_ms INTEGER;
ALTER TABLE payment ADD COLUMN said_tx TEXT;
