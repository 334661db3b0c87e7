/** Text for HTML, between tags and inside of quoted attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/**
 * Makes the names of headings as GitHub makes them, so that one link works in both places. A name that is taken gets a number.
 */
export function headingNames(): (text: string) => string {
  const taken = new Map<string, number>();
  return (text) => {
    const name = text
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-');
    const times = taken.get(name) ?? 0;
    taken.set(name, times + 1);
    return times === 0 ? name : `${name}-${times}`;
  };
}
