import { type Placement, TABLE_FACTS } from '../tables/table-facts.ts';

export const PLACEMENTS: Readonly<Record<string, Placement>> = Object.fromEntries(
  Object.entries(TABLE_FACTS).map(([table, { placement }]) => [table, placement]),
);
