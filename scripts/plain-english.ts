import { readdirSync, readFileSync } from 'node:fs';
import { Command } from 'commander';

/**
 * Counts words that tend to hide who does what ("nobody", "such a", "what is told"), by file, in comments and in the texts of strings.
 * It prints and judges nothing: the exit code is 0 whatever it finds. `npx tsx scripts/plain-english.ts src/gate --show`.
 */

const WORDS =
  /\b(?:nobody|whoever|somebody|beside|told|so much|such an?|of which|meanwhile|those of|what (?:(?!what\b)\w+ ){0,3}is)\b/gi;
const SOURCE = /\.(?:ts|tsx|mjs|cjs|js|sql|lua|md)$/;
/** Frozen by checksum, generated, or installed. */
const LEFT_OUT =
  /(?:^|\/)(?:node_modules|dist|coverage)\/|^clickhouse\/migrations\/|\/sqlite\/migrations\/|^docs\/reference\/|^client\/openapi\.ts$/;
/** The first is generated from texts of `src`; the second names the words. */
const FILES_LEFT_OUT = ['client/operations.ts', 'scripts/plain-english.ts'];
const FOLDERS = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ...[
    'core',
    'clickhouse',
    'ingest',
    'sandbox',
    'src',
    'client',
    'console',
    'demo',
    'docs',
    'scripts',
    'bench',
    'test',
  ],
];
/** In the order in which the scanner tries them: comments, strings, texts of templates. */
const TEXTS =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|--[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;

interface Found {
  readonly file: string;
  readonly line: number;
  readonly word: string;
  readonly text: string;
}

const command = new Command('npx tsx scripts/plain-english.ts')
  .description(
    'Counts "nobody", "whoever", "somebody", "beside", "told", "so much", "such a", "of which", "meanwhile", "those of" and "what … is" in comments and user text, by file. Prints, never judges.',
  )
  .argument('[paths...]', 'folders or files to look at', FOLDERS)
  .option('--show', 'print each line that holds a word', false)
  .parse();

const found = command.args.length === 0 ? FOLDERS.flatMap(wordsIn) : command.args.flatMap(wordsIn);
print(found, command.opts<{ show: boolean }>().show);

function wordsIn(path: string): Found[] {
  return filesOf(path.replace(/\/+$/, '')).flatMap((file) => {
    const source = readFileSync(file, 'utf8');
    // Text of a page stands outside of strings.
    const texts = /\.(?:md|tsx)$/.test(file) ? [{ 0: source, index: 0 }] : [...source.matchAll(TEXTS)];
    return texts.flatMap(({ 0: text, index }) =>
      [...text.matchAll(WORDS)].map((match) => {
        const at = index + match.index;
        const line = source.slice(0, at).split('\n').length;
        return { file, line, word: labelOf(match[0]), text: source.split('\n')[line - 1]?.trim() ?? '' };
      }),
    );
  });
}

/** One word of the count, whatever stands in the gap. */
function labelOf(found: string): string {
  const word = found.toLowerCase();
  return word.startsWith('what ') ? 'what … is' : word;
}

function filesOf(path: string): string[] {
  if (SOURCE.test(path)) return [path];
  return readdirSync(path, { recursive: true, encoding: 'utf8' })
    .map((name) => `${path}/${name}`)
    .filter((name) => SOURCE.test(name) && !LEFT_OUT.test(name) && !FILES_LEFT_OUT.includes(name))
    .sort();
}

function print(all: readonly Found[], show: boolean): void {
  const files = grouped(all);
  const lines = [...files]
    .sort((a, b) => b[1].length - a[1].length)
    .flatMap(([file, words]) => [
      `${String(words.length).padStart(5)}  ${file}`,
      ...(show ? words.map(({ line, word, text }) => `         ${line}: ${word}: ${text}`) : []),
    ]);
  const counts = new Map<string, number>();
  for (const { word } of all) counts.set(word, (counts.get(word) ?? 0) + 1);
  const words = [...counts].sort((a, b) => b[1] - a[1]).map(([word, count]) => `${word} ${count}`);
  const sum = `${all.length} in ${files.size} files${words.length === 0 ? '' : `: ${words.join(', ')}`}`;
  process.stdout.on('error', () => undefined); // `| head` has read enough
  process.stdout.write(`${[...lines, '', sum].join('\n')}\n`);
}

function grouped(all: readonly Found[]): Map<string, Found[]> {
  const files = new Map<string, Found[]>();
  for (const one of all) files.set(one.file, [...(files.get(one.file) ?? []), one]);
  return files;
}
