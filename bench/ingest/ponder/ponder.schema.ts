import { onchainTable } from 'ponder';

/** The facts of a settlement as our own index keeps them, without the grade. */
export const settlement = onchainTable('settlement', (t) => ({
  id: t.text().primaryKey(),
  payer: t.hex().notNull(),
  payee: t.hex().notNull(),
  amount: t.bigint().notNull(),
  relayer: t.hex().notNull(),
  blockNumber: t.bigint().notNull(),
  blockTime: t.bigint().notNull(),
  txHash: t.hex().notNull(),
  logIndex: t.integer().notNull(),
}));
