/** What stands between two marks: after the first `open`, up to the next `close`. Reads the text once, as a lazy pattern does not. */
export function textBetween(text: string, open: string, close: string): string | undefined {
  const opened = text.indexOf(open);
  if (opened < 0) return undefined;
  const from = opened + open.length;
  const end = text.indexOf(close, from);
  return end < 0 ? undefined : text.slice(from, end);
}
