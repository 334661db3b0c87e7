import { escapeHtml } from './markdown.ts';

/** A cell as HTML, and its text, by which its width is judged. */
export interface TableCell {
  readonly html: string;
  readonly text: string;
}

/** Of the text of a telephone (390 px), within a table. */
const NARROW_CHARS = 48;
/** The padding of a cell. */
const CELL_CHARS = 3.5;
/** Longer texts are broken into lines, and a reader needs this width: two columns of them fit. */
const SHORT_CHARS = 12;
const PROSE_CHARS = 21;

/**
 * A table that scrolls on its own where it is too wide, and takes the focus to be scrolled by keyboard. Where a telephone cannot show
 * it, its rows become entries below each other (docs.css, `.stacks`): each cell then bears the name of its column, unless there is only one
 * next to the name of the entry.
 */
export function tableHtml(head: readonly TableCell[], rows: readonly (readonly TableCell[])[]): string {
  const columns = head.map((name, at) => [name, ...rows.map((row) => row[at] ?? EMPTY)]);
  const stacks = columns.reduce((sum, cells) => sum + widthOf(cells), 0) > NARROW_CHARS;
  const names = head.map(({ html }) => `<th scope="col">${html}</th>`).join('');
  const lines = rows.map((row) => {
    const cells = row.map(({ html, text }, at) => {
      const label = stacks ? ` data-label="${escapeHtml(head[at]?.text ?? '')}"` : '';
      return `<td class="${lengthOf(text)}"${label}>${html}</td>`;
    });
    return `<tr>${cells.join('')}</tr>`;
  });
  const kind = `table${stacks ? ' stacks' : ''}${head.length === 2 ? ' pairs' : ''}`;
  return `<div class="${kind}" tabindex="0" role="region" aria-label="Table"><table><thead><tr>${names}</tr></thead><tbody>${lines.join('\n')}</tbody></table></div>\n`;
}

/** The class of a cell by the length of its text. */
function lengthOf(text: string): 'none' | 'short' | 'long' {
  if (text === '') return 'none';
  return text.length <= PROSE_CHARS ? 'short' : 'long';
}

const EMPTY: TableCell = { html: '', text: '' };

/** Characters that a column needs to be read: its name in several lines, short texts whole, long ones broken. */
function widthOf([name = EMPTY, ...cells]: readonly TableCell[]): number {
  const needs = cells.map(({ text }) =>
    text.length <= SHORT_CHARS ? text.length : Math.max(PROSE_CHARS, longestWord(text)),
  );
  return Math.max(longestWord(name.text), ...needs) + CELL_CHARS;
}

function longestWord(text: string): number {
  return Math.max(...text.split(/\s+/).map((word) => word.length));
}
