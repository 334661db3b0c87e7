import { FAMILY_GROUPS, type Family, METRIC_PREFIX } from '../../core/metric-families.ts';

/** The metrics of docs/observe.md, from their declaration. */

const GROUP_TITLES: Readonly<Record<keyof typeof FAMILY_GROUPS, string>> = {
  traffic: 'Traffic',
  money: 'Money and accounts',
  sql: 'Callers’ SQL',
  engine: 'Engine',
  index: 'Index (from processes with an API; the figures of `/v0/telemetry`)',
  work: 'Work (from processes that read chains and roll up)',
  process: 'Processes',
};

export function metricsBlock(): string {
  return Object.entries(FAMILY_GROUPS)
    .map(([group, families]) => {
      const title = GROUP_TITLES[group as keyof typeof FAMILY_GROUPS]; // its own keys
      const rows = Object.entries(families).map(([name, family]: [string, Family]) => {
        const labels = family.labels.map((label) => `\`${label}\``).join(', ');
        return `| \`${METRIC_PREFIX}${name}\` | ${family.kind} | ${labels} | ${family.help} |`;
      });
      return `### ${title}\n\n| metric | kind | labels | what it says |\n|---|---|---|---|\n${rows.join('\n')}\n`;
    })
    .join('\n');
}
