import { createHash } from 'node:crypto';

/** What stands between two marks: after the first `open`, up to the next `close`. Reads the text once, as a lazy pattern does not. */
export function textBetween(text: string, open: string, close: string): string | undefined {
  const opened = text.indexOf(open);
  if (opened < 0) return undefined;
  const from = opened + open.length;
  const end = text.indexOf(close, from);
  return end < 0 ? undefined : text.slice(from, end);
}

/** SHA-256 in hex. */
export function sha256Of(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Whether a text is a day of the calendar: Date.parse takes the 31st of February for the 3rd of March. */
export function isDay(text: string): boolean {
  if (!DAY.test(text)) return false;
  const atMs = Date.parse(text);
  return !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(text);
}
