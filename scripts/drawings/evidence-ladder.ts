import { EVIDENCE_LADDER, EVIDENCE_METHODS } from '../../core/domain/evidence.ts';
import { box, drawing, label, WIDTH, wrapped } from './svg.ts';

const TOP = 52;
const RUNG_HEIGHT = 52;
const STEP = 60;
const TIER_X = 20;
const TIER_WIDTH = 150;
const METHOD_X = 190;
const METHOD_WIDTH = 190;
const MEANING_X = 396;
const LINE = 15;
/** Everything but these was read and found to be no payment, or not read at all. */
const STRONG_TIERS: ReadonlySet<string> = new Set(['proven', 'probable']);

/** The rungs from the strongest to the weakest, each with what was seen. */
export function evidenceLadder(): string {
  const rungs = EVIDENCE_METHODS.map((method, at) => {
    const { tier, probability, meaning } = EVIDENCE_LADDER[method];
    const y = TOP + at * STEP;
    const kind = STRONG_TIERS.has(tier) ? 'strong' : 'box';
    const chance = probability === null ? 'no probability' : `probability ${probability}`;
    const lines = wrapped(meaning, WIDTH - MEANING_X - 10);
    const first = y + RUNG_HEIGHT / 2 - ((lines.length - 1) * LINE) / 2 + 4;
    return [
      box({ x: TIER_X, y, w: TIER_WIDTH, h: RUNG_HEIGHT }, tier, [chance], kind),
      box({ x: METHOD_X, y, w: METHOD_WIDTH, h: RUNG_HEIGHT }, method, [], kind),
      ...lines.map((line, nth) => label(MEANING_X, first + nth * LINE, line, { note: true })),
    ];
  });
  return drawing(
    'ladder',
    'The evidence ladder: what was seen on chain, and how sure that makes a settlement',
    TOP + EVIDENCE_METHODS.length * STEP + 4,
    [
      label(TIER_X, 32, 'tier', { bold: true }),
      label(METHOD_X, 32, 'method', { bold: true }),
      label(MEANING_X, 32, 'what was seen', { bold: true }),
      ...rungs.flat(),
    ],
  );
}
