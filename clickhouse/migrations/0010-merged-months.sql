-- A month that is over is merged into one part: FINAL then has nothing to do there, and a skip index leaves out what it can,
-- because no other part holds a newer version of what it found. The open month is left alone: its parts are never that old.
ALTER TABLE settlements MODIFY SETTING min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;
