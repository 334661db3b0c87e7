import type { Position } from './refusal.ts';

/** Texts, comments and quoted names whole; words with their dots. As the engine's lexer cuts them, near enough to show a place. */
const PARTS =
  /'(?:[^'\\]|\\.|'')*'|--[^\n]*|#[ !][^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*/g;

/** Where a word stands first in a text, outside of texts and comments. */
export function wordPosition(text: string, word: string): Position | undefined {
  for (const { 0: part, index } of text.matchAll(PARTS)) {
    if (part !== word && part !== `"${word}"` && part !== `\`${word}\``) continue;
    const lines = text.slice(0, index).split('\n');
    return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 };
  }
  return undefined;
}
