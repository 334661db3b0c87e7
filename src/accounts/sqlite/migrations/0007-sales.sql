-- What a payment was claimed for: a call that is resumed is served from it, and its author gets no more than it says. sold is NULL once
-- the payment was served. Payments that were claimed before this was kept have none of it.
ALTER TABLE payment ADD COLUMN sale_units INTEGER CHECK (sale_units >= 0);
ALTER TABLE payment ADD COLUMN sold TEXT;
ALTER TABLE payment ADD COLUMN share_organization_id TEXT;
ALTER TABLE payment ADD COLUMN share_run_units INTEGER CHECK (share_run_units >= 1);
ALTER TABLE payment ADD COLUMN share_note TEXT;
ALTER TABLE payment ADD COLUMN share_operation TEXT;
-- The share and the run are covered by what was paid for.
ALTER TABLE payment ADD COLUMN share_units INTEGER CHECK (share_units IS NULL OR (share_units >= 1
  AND share_organization_id IS NOT NULL AND sale_units IS NOT NULL AND share_run_units IS NOT NULL
  AND share_units + share_run_units <= sale_units));

-- Those with a share are kept: they say what its grant was paid with.
DROP INDEX payment_served;
CREATE INDEX payment_served ON payment (expires_at_ms) WHERE state = 'served' AND share_units IS NULL;
