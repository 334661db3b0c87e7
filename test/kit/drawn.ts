import { type ComponentChild, Fragment, h } from 'preact';
import { renderToString } from 'preact-render-to-string';

/** Parts of the console, drawn to text without a browser: no effect runs, so nothing is asked of the API. */

export function htmlOf(part: ComponentChild): string {
  return renderToString(h(Fragment, null, part));
}

const ENTITIES: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' };

/** The text as a reader sees it: blocks and cells are apart by one space. */
export function textOf(part: ComponentChild): string {
  const html = typeof part === 'string' ? part : htmlOf(part);
  return html
    .replace(/<\/?(?:p|div|section|li|dt|dd|td|th|tr|h\d|option|button|title)\b[^>]*>/g, ' ')
    .replace(/<[^>]*>/g, '')
    .replace(/&(?:amp|lt|gt|quot);/g, (entity) => ENTITIES[entity] ?? entity)
    .replace(/\s+/g, ' ')
    .trim();
}

/** The HTML of each element whose opening tag has `mark` in it: `elementsOf(html, 'class="chip')`. None of them may hold its own kind. */
export function elementsOf(html: string, mark: string): string[] {
  return [...html.matchAll(/<([a-z]\w*)\b[^>]*>/g)].flatMap(({ 0: tag, 1: name, index }) => {
    if (!tag.includes(mark)) return [];
    const end = html.indexOf(`</${name}>`, index);
    return [html.slice(index, end === -1 ? index + tag.length : end)];
  });
}

/** The HTML of what stands next to a name of a list of facts; empty where the list has no such name. */
export function factOf(html: string, name: string): string {
  const [, after = ''] = html.split(`<dt>${name}</dt>`);
  return after.slice(0, after.indexOf('</dd>'));
}
