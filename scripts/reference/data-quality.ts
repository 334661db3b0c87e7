import {
  DUST_BELOW,
  METHOD_VERSION,
  MOSTLY_ROUND_SHARE,
  SAMPLE_MIN_SETTLEMENTS,
  SHARE_SCALE,
  SIGNALS,
  VERDICT_MEANING,
  VERDICTS,
} from '../../core/domain/data-quality.ts';
import { REASON_COSTS, REASONS_AGAINST, REASONS_FOR } from '../../core/domain/pay-reasons.ts';
import { table } from './markdown.ts';

/** The block of docs/methodology.md that the constants of core/domain/data-quality.ts decide. */
export function dataQualityBlock(): string {
  const signals = Object.entries(SIGNALS).map(([id, { kind, threshold, unit, meaning }]) => [
    `\`${id}\``,
    kind,
    unit === 'share' ? String(Number(threshold) / Number(SHARE_SCALE)) : String(threshold),
    meaning,
  ]);
  const half = Number(MOSTLY_ROUND_SHARE) / Number(SHARE_SCALE);
  return `
${table(['signal', 'kind', 'threshold', 'measures'], signals)}
A signal is triggered when its value reaches the threshold. Method version ${METHOD_VERSION}; a wallet is judged from ${SAMPLE_MIN_SETTLEMENTS} settlements of ${DUST_BELOW} or more on,
and "most of the money" begins at a share of ${half}. Verdicts; \`suspect\` goes before \`mixed\`:

${VERDICTS.map((verdict) => `- \`${verdict}\`: ${VERDICT_MEANING[verdict]}\n`).join('')}
`;
}

/** The block of docs/methodology.md with the reasons of core/domain/pay-reasons.ts. */
export function payReasonsBlock(): string {
  const rows = (kind: string, reasons: Readonly<Record<string, string>>) =>
    Object.entries(reasons).map(([reason, meaning]) => [
      `\`${reason}\``,
      kind,
      meaning,
      REASON_COSTS[reason as keyof typeof REASON_COSTS], // the tables have the same keys
    ]);
  return `
${table(['reason', 'speaks', 'given when', 'what it costs to fake'], [...rows('for', REASONS_FOR), ...rows('against', REASONS_AGAINST)])}
`;
}
