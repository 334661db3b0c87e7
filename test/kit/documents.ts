import { readdirSync, readFileSync } from 'node:fs';

/** README.md and everything below docs/, as text, and the code blocks in it. */

const ROOT = new URL('../../', import.meta.url);

export interface CodeBlock {
  /** Below the root of the project. */
  readonly file: string;
  /** Of the fence, from 1. */
  readonly line: number;
  readonly language: string;
  readonly code: string;
  /** Says how the block is checked where that differs from its kind: `<!-- block: … -->` right above it. */
  readonly mark: string;
  /** The block before it in the same file, when nothing but blank lines is between them. */
  readonly above: CodeBlock | null;
}

export function documentFiles(): string[] {
  const docs = readdirSync(new URL('docs/', ROOT), { recursive: true, encoding: 'utf8' });
  const pages = docs.filter((name) => name.endsWith('.md')).sort();
  return ['README.md', ...pages.map((name) => `docs/${name}`)];
}

export function readDocument(file: string): string {
  return readFileSync(new URL(file, ROOT), 'utf8');
}

const FENCE = /^(\s*)(```+|~~~+)(.*)$/;
const MARK = /^<!-- block: (.+) -->$/;

/** Every fenced block of a document, in order. A fence that is not closed is an error. */
export function codeBlocks(file: string, text = readDocument(file)): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { line: number; fence: string; language: string; lines: string[]; mark: string } | null = null;
  let mark = '';
  let above: CodeBlock | null = null;
  for (const [at, line] of text.split('\n').entries()) {
    const [, , fence = '', language = ''] = FENCE.exec(line) ?? [];
    if (open !== null && fence === open.fence && language.trim() === '') {
      above = {
        file,
        line: open.line,
        language: open.language,
        code: open.lines.join('\n'),
        mark: open.mark,
        above,
      };
      blocks.push(above);
      open = null;
      mark = '';
    } else if (open !== null) {
      open.lines.push(line);
    } else if (fence !== '') {
      open = { line: at + 1, fence, language: language.trim(), lines: [], mark };
    } else if (line.trim() !== '') {
      mark = MARK.exec(line)?.[1] ?? '';
      above = null;
    }
  }
  if (open !== null) throw new Error(`${file}:${open.line}: the block is not closed`);
  return blocks;
}
