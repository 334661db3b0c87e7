import {
  addressColumn,
  blockNumber,
  blockTime,
  chain,
  column,
  facilitator,
  facilitatorName,
  type PublicTable,
  txHash,
  USD,
} from './column.ts';

/** What settling cost. */

export const TRANSACTION_FEES = {
  meaning:
    'What each transaction with settlements cost its relayer, from its receipt: of final blocks, missing until it was read.',
  cheapBy: ['block_time', 'chain', 'tx_hash', 'relayer'],
  columns: [
    chain,
    txHash,
    blockNumber,
    blockTime,
    addressColumn('relayer', 'Address that sent the transaction and paid the fee.'),
    facilitator,
    facilitatorName,
    column('settlement_count', 'UInt32', 'Settlements in the transaction.'),
    column('settled_usd', USD, 'Dollars of these, without channel deposits.'),
    column('gas_used', 'UInt64', 'Gas that the transaction used.'),
    column(
      'gas_price_wei',
      'UInt256',
      'Effective price of a unit of gas, in wei (10^-18 of the native currency of the chain).',
    ),
    column(
      'l1_fee_wei',
      'UInt256',
      'What an OP-stack chain such as Base charges for the data on its base chain, in wei; 0 elsewhere.',
    ),
    column('fee_wei', 'UInt256', 'gas_used times gas_price_wei, plus l1_fee_wei.'),
  ],
} as const satisfies PublicTable;
