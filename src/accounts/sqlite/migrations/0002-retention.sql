-- What is over, by when it was over: it is forgotten after a while (src/control/retention.ts).
CREATE INDEX hold_resolved ON hold (organization_id, overdue_at_ms) WHERE state <> 'open';

CREATE INDEX payment_served ON payment (expires_at_ms) WHERE state = 'served';
