import { possibleRows } from '../../src/operations/rankings/orders.ts';
import { table } from './markdown.ts';

/** The block of docs/methodology.md that says what can be ranked by what, and over which windows. */
export function rankingsBlock(): string {
  const groups: { readonly of: string; readonly by: string[]; readonly windows: string }[] = [];
  for (const [of, by, windows] of possibleRows()) {
    const group = groups.find((one) => one.of === of && one.windows === windows);
    if (group === undefined) groups.push({ of, by: [by], windows });
    else group.by.push(by);
  }
  const rows = groups.map(({ of, by, windows }) => [
    `\`${of}\``,
    by.map((order) => `\`${order}\``).join(', '),
    windows,
  ]);
  return `\n${table(['of', 'by', 'window'], rows)}\n`;
}
