import { readFileSync, writeFileSync } from 'node:fs';

/** The results in docs/cookbook.md: a block below each query, `<!-- result:7 -->` to `<!-- /result:7 -->`. */

const COOKBOOK = new URL('../../docs/cookbook.md', import.meta.url);
const ROWS_MAX = 5;
const FLOAT_DIGITS = 4;
const CELL_CHARS_MAX = 70;
const ADDRESS = /\b0x([0-9a-f]{6})[0-9a-f]{30}([0-9a-f]{4})\b/g;
const HASH = /\b0x([0-9a-f]{6})[0-9a-f]{54}([0-9a-f]{4})\b/g;

export interface Answer {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly unknown[])[];
}

/** The first rows as a table of Markdown, with what was left out said below it. */
export function resultTable({ columns, rows }: Answer): string {
  if (rows.length === 0) return 'No rows in this data.';
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const shown = rows
    .slice(0, ROWS_MAX)
    .map((row) => line(row.map((value, at) => cellOf(value, columns[at]?.type ?? ''))));
  const alignment = columns.map(({ type }) => (isFigure(type) ? '---:' : '---'));
  const rest = rows.length - shown.length;
  const more = rest > 0 ? [`\n${rest} more ${rest === 1 ? 'row' : 'rows'}.`] : [];
  return [line(columns.map(({ name }) => name)), `|${alignment.join('|')}|`, ...shown, ...more].join('\n');
}

function isFigure(type: string): boolean {
  return /^(Nullable\()?(U?Int|Float|Decimal)/.test(type);
}

function cellOf(value: unknown, type: string): string {
  if (value === null) return 'NULL';
  const text =
    typeof value === 'object' ? JSON.stringify(value).replaceAll(',', ', ') : figureOf(value, type);
  const short = text.replace(HASH, '0x$1…$2').replace(ADDRESS, '0x$1…$2').replaceAll('|', '\\|');
  return short.length > CELL_CHARS_MAX ? `${short.slice(0, CELL_CHARS_MAX)}…` : short;
}

/** Sums of doubles differ in their last digits with the order in which they are added up. */
function figureOf(value: unknown, type: string): string {
  if (type.includes('Float') && Number.isFinite(Number(value)))
    return String(Number(Number(value).toPrecision(FLOAT_DIGITS)));
  const text = String(value);
  return type.includes('Decimal') && text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

const blockOf = (number: number): RegExp =>
  new RegExp(`<!-- result:${number} -->\\n([\\s\\S]*?)\\n<!-- /result:${number} -->`);

export function keptResult(number: number): string | undefined {
  return blockOf(number).exec(readFileSync(COOKBOOK, 'utf8'))?.[1];
}

/** Puts the table below the query, and below its params where there are some. */
export function keepResult(number: number, table: string): void {
  const page = readFileSync(COOKBOOK, 'utf8');
  const block = `<!-- result:${number} -->\n${table}\n<!-- /result:${number} -->`;
  if (blockOf(number).test(page)) {
    writeFileSync(
      COOKBOOK,
      page.replace(blockOf(number), () => block),
    );
    return;
  }
  const query = new RegExp(
    `(^## ${number}\\. .+\\n\\n\`\`\`sql\\n[\\s\\S]*?\`\`\`\\n(?:\\n\`\`\`json\\n[\\s\\S]*?\`\`\`\\n)?)`,
    'm',
  );
  writeFileSync(
    COOKBOOK,
    page.replace(query, (_all, above: string) => `${above}\n${block}\n`),
  );
}
