const { Token } = require('../generated');

/** Pairs the two events in memory, because events arrive in log order: one write per settlement and no read. */
let authorized;

Token.AuthorizationUsed.handler(async ({ event }) => {
  authorized = { hash: event.transaction.hash, payer: event.params.authorizer, logIndex: event.logIndex };
});

Token.Transfer.handler(async ({ event, context }) => {
  const isPaired =
    authorized !== undefined &&
    authorized.hash === event.transaction.hash &&
    authorized.payer === event.params.from &&
    authorized.logIndex === event.logIndex - 1;
  if (!isPaired) return;
  authorized = undefined;
  context.Settlement.set({
    id: `${event.block.number}-${event.logIndex}`,
    payer: event.params.from,
    payee: event.params.to,
    amount: event.params.value,
    relayer: event.transaction.from,
    blockNumber: event.block.number,
    blockTime: event.block.timestamp,
    txHash: event.transaction.hash,
    logIndex: event.logIndex,
  });
});
