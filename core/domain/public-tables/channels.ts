import { PAYMENT_SCHEMES } from '../settlement.ts';
import {
  addressColumn,
  amount,
  amountUsd,
  asset,
  assetDecimals,
  assetSymbol,
  blockNumber,
  blockTime,
  chain,
  column,
  evidenceTier,
  facilitator,
  feeAmount,
  kind,
  logIndex,
  NAME,
  type PublicTable,
  relayer,
  scheme,
  TEXT,
  TIME,
  txHash,
  USD_OR_NULL,
} from './column.ts';

/** Payment channels and escrowed payments. */

const id = column('channel', TEXT, 'Id of the channel or escrowed payment: 0x and hex.');
const payer = addressColumn('payer', 'Address whose money it holds.');
const payee = addressColumn('payee', 'Address that it pays.');
const contract = addressColumn(
  'contract',
  'Contract whose event it is: x402BatchSettlement, or an AuthCaptureEscrow, which keeps the money in a token store of the operator.',
);
const units = (what: string): string => `${what}, in atomic units of the token.`;

export const CHANNEL_EVENTS = {
  meaning: 'Every deposit, payment and return of a payment channel or escrow once, ordered by channel.',
  cheapBy: ['channel', 'payer', 'payee', 'block_time'],
  columns: [
    id,
    chain,
    blockNumber,
    blockTime,
    txHash,
    logIndex,
    scheme,
    kind,
    contract,
    payer,
    payee,
    asset,
    assetSymbol,
    assetDecimals,
    amount,
    amountUsd,
    feeAmount,
    relayer,
    facilitator,
    evidenceTier,
  ],
} as const satisfies PublicTable;

export const CHANNELS = {
  meaning: 'Every payment channel and escrow once, with its sums and balance.',
  cheapBy: ['channel', 'payer', 'payee'],
  columns: [
    id,
    chain,
    column('scheme', NAME, 'batch-settlement or auth-capture.', PAYMENT_SCHEMES),
    contract,
    payer,
    payee,
    asset,
    assetSymbol,
    assetDecimals,
    column('deposited', 'UInt256', units('What the payer put in')),
    column('paid', 'UInt256', units('What the payee was paid: claims, captures and charges')),
    column('returned', 'UInt256', units('What went back to the payer: refunds, withdrawals and voids')),
    column(
      'balance',
      'Nullable(UInt256)',
      `${units('What it still holds, committed to the payee and not yet claimed')} NULL where indexing began after its first deposit.`,
    ),
    column('deposited_usd', USD_OR_NULL, 'Dollars put in; NULL where its token has no dollar value.'),
    column('paid_usd', USD_OR_NULL, 'Dollars paid to the payee; NULL likewise.'),
    column('returned_usd', USD_OR_NULL, 'Dollars that went back to the payer; NULL likewise.'),
    column('balance_usd', USD_OR_NULL, 'Dollars that it still holds; NULL likewise, and as in balance.'),
    column('payment_count', 'UInt64', 'Claims, captures and charges.'),
    column('opened_at', TIME, 'Time of its first event, UTC.'),
    column('last_event_at', TIME, 'Time of its last event, UTC.'),
  ],
} as const satisfies PublicTable;
