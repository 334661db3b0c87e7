const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
/** As the API takes it. */
export const SEARCH_TEXT_MAX = 100;

/** An address leads to its wallet, words to agents by name and description. */
export function searchPath(text: string): string | null {
  const wanted = text.trim();
  if (wanted === '') return null;
  if (ADDRESS.test(wanted)) return `/merchants/${wanted.toLowerCase()}`;
  return `/agents?q=${encodeURIComponent(wanted.slice(0, SEARCH_TEXT_MAX))}`;
}
