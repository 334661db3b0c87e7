import { possibleRows } from '../../src/operations/rankings/orders.ts';
import { table } from './markdown.ts';

/** The block of docs/methodology.md that says what can be ranked by what, and over which windows. */
export function rankingsBlock(): string {
  const rows = possibleRows().map(([of, by, windows]) => [`\`${of}\``, `\`${by}\``, windows]);
  return `\n${table(['of', 'by', 'window'], rows)}\n`;
}
