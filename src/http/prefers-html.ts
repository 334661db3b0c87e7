/** Whether an Accept header takes HTML no less than JSON, and names it: browsers do, programs that take anything do not. Source: RFC 9110 12.5.1. */
export function prefersHtml(accept: string | undefined): boolean {
  const ranges = (accept ?? '').split(',').map(readRange);
  const html = qualityOf(ranges, ['text/html', 'application/xhtml+xml']);
  return html > 0 && html >= qualityOf(ranges, ['application/json', 'application/*']);
}

interface Range {
  readonly type: string;
  readonly quality: number;
}

function readRange(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const stated = parameters.find((part) => part.startsWith('q='))?.slice('q='.length);
  const quality = stated === undefined ? 1 : Number(stated);
  return { type, quality: Number.isFinite(quality) ? quality : 0 };
}

function qualityOf(ranges: readonly Range[], types: readonly string[]): number {
  return Math.max(0, ...ranges.filter(({ type }) => types.includes(type)).map(({ quality }) => quality));
}
