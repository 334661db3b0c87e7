import {
  CAPABILITIES,
  CAPABILITIES_MAX,
  CAPABILITY_RULE_VERSION,
  CLUE_POINTS,
  POINTS_NEEDED,
} from '../../core/domain/capability.ts';
import { capitalized, table } from './markdown.ts';

/** The blocks of docs/capabilities.md that core/domain/capability.ts and its catalogue decide. */
export function capabilityRuleBlock(): string {
  const points = Object.entries(CLUE_POINTS).map(([place, worth]) => [place, String(worth)]);
  return `
${table(['place', 'points'], points)}
A capability is offered from ${POINTS_NEEDED} points on; at most ${CAPABILITIES_MAX} are kept, the strongest first. Version of the rule: ${CAPABILITY_RULE_VERSION}.
`;
}

export function capabilityCatalogueBlock(): string {
  const groups = [...new Set(CAPABILITIES.map(({ group }) => group))].map((group) => {
    const rows = CAPABILITIES.filter((one) => one.group === group).map(({ slug, unit, summary, phrases }) => [
      `\`${slug}\``,
      unit,
      summary,
      phrases.join(', '),
    ]);
    return `### ${capitalized(group)}\n\n${table(['slug', 'unit', 'meaning', 'phrases'], rows)}`;
  });
  return `\n${groups.join('\n')}\n`;
}
