import { PAYMENT_STAGES } from '../../core/domain/payment.ts';
import { code, generatedHead, table } from './markdown.ts';

const INTRO = `Failures of a payment carry \`stage\` (where it failed) and \`retryable\` (whether the same payment may be sent again), and where they apply
\`reason\` (a code of the facilitator’s), \`transaction\` (the settlement) and \`authorization_nonce\` (what to look for on the chain). A 409
\`payment_in_progress\` is always worth sending again. How to pay: [payments](../payments.md).

`;

export function paymentStagesPage(): string {
  const rows = Object.entries(PAYMENT_STAGES).map(([stage, { meaning, retryable }]) => [
    code(stage),
    meaning,
    retryable ? 'yes' : 'no: sign a new payment',
  ]);
  return `${generatedHead('Payment stages', 'core/domain/payment.ts')}${INTRO}${table(['stage', 'meaning', 'send the same payment again'], rows)}`;
}
