import { ponder } from 'ponder:registry';
import { settlement } from 'ponder:schema';

/**
 * Pairs the two events in memory, because events arrive in log order: one insert per settlement and no read, the least work
 * that Ponder can do for the same rows.
 */
let authorized: { readonly txHash: string; readonly payer: string; readonly logIndex: number } | undefined;

ponder.on('token:AuthorizationUsed', async ({ event }) => {
  authorized = {
    txHash: event.transaction.hash,
    payer: event.args.authorizer,
    logIndex: event.log.logIndex,
  };
});

ponder.on('token:Transfer', async ({ event, context }) => {
  const isPaired =
    authorized !== undefined &&
    authorized.txHash === event.transaction.hash &&
    authorized.payer === event.args.from &&
    authorized.logIndex === event.log.logIndex - 1;
  if (!isPaired) return;
  authorized = undefined;
  await context.db.insert(settlement).values({
    id: event.id,
    payer: event.args.from,
    payee: event.args.to,
    amount: event.args.value,
    relayer: event.transaction.from,
    blockNumber: event.block.number,
    blockTime: event.block.timestamp,
    txHash: event.transaction.hash,
    logIndex: event.log.logIndex,
  });
});
