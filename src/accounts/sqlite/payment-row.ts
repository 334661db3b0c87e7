import type { AuthorizationId, PaymentRecord } from '../store.ts';

/** A payment as PAYMENT_COLUMNS spell it: the parts of its id stand beside the rest. */
export type PaymentRow = AuthorizationId & Omit<PaymentRecord, 'id'>;

export function paymentOf(row: PaymentRow): PaymentRecord {
  const { chain, asset, payer, nonce, ...rest } = row;
  return { id: { chain, asset, payer, nonce }, ...rest };
}
