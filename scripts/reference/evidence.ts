import { EVIDENCE_LADDER, EVIDENCE_METHODS, REASON_MEANINGS, REASONS } from '../../core/domain/evidence.ts';
import { code, generatedHead, table } from './markdown.ts';

const INTRO = `How sure the index is that a transfer was an x402 settlement. Each row carries \`evidence { verified, method, probability, tier, reasons }\`.
\`verified\` is true when a named facilitator relayed the settlement, false when it was examined and has no EIP-3009 marker, and null when it is
not established, which is not the same as disproven. A \`probability\` of null was not examined: \`min_probability\` drops such rows.

`;

export function evidencePage(): string {
  const rungs = EVIDENCE_METHODS.map((method) => {
    const { tier, verified, probability, meaning } = EVIDENCE_LADDER[method];
    return [code(method), code(tier), String(verified), String(probability), meaning];
  });
  const reasons = table(
    ['reason', 'what was seen'],
    REASONS.map((reason) => [code(reason), REASON_MEANINGS[reason]]),
  );
  return `${generatedHead('The evidence ladder', 'core/domain/evidence.ts')}${INTRO}${table(['method', 'tier', 'verified', 'probability', 'seen on chain'], rungs)}\n## Reasons\n\n${reasons}`;
}
