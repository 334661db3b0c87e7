import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';
import type { CodeBlock } from './documents.ts';

/** The TypeScript blocks of the documentation, written as files next to our packages, as a reader would do. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SCRIPTS_MAX_MS = 60_000;
const run = promisify(execFile);

export interface DocumentedScripts {
  /** What the compiler says of all of them, by the project's own settings. */
  complaints(): string[];
  /** Runs them one after the other in a process; resolves with why those failed that did. */
  run(): Promise<string[]>;
  close(): void;
}

/** `replaced` has what a reader replaces too: addresses of the service, keys. */
export function writeScripts(
  blocks: readonly CodeBlock[],
  replaced: readonly (readonly [written: string, meant: string])[],
  env: Readonly<Record<string, string>>,
): DocumentedScripts {
  const directory = mkdtempSync(join(tmpdir(), 'settlement-index-scripts-'));
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
  // For tsx, which resolves as the compiler does.
  const paths = Object.fromEntries(Object.entries(OWN_PACKAGE).map(([name, file]) => [name, [file]]));
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions: { paths } }));
  const files = blocks.map((block, at) => {
    const file = join(directory, `block-${at}.ts`);
    const code = replaced.reduce((text, [written, meant]) => text.replaceAll(written, meant), block.code);
    // A module of its own, so that the names of one block do not meet the names of another.
    writeFileSync(file, `${code}\nexport {};\n`);
    return { file, place: `${block.file}:${block.line}` };
  });
  const placed = (text: string): string =>
    files.reduce((told, { file, place }) => told.replaceAll(file, place), text);
  return {
    complaints: () =>
      compile(
        files.map(({ file }) => file),
        directory,
      ).map(placed),
    run: async () => {
      const runner = join(directory, 'run.mjs');
      writeFileSync(runner, RUNNER);
      const { stdout } = await run(
        process.execPath,
        ['--import', 'tsx', runner, ...files.map(({ file }) => file)],
        {
          cwd: directory,
          env: { PATH: process.env['PATH'], ...env },
          timeout: SCRIPTS_MAX_MS,
        },
      );
      const failures = JSON.parse(
        stdout.split('\n').findLast((line) => line.startsWith('[')) ?? '',
      ) as string[]; // printed by RUNNER
      return failures.map(placed);
    },
    close: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Says at the end which failed: what the scripts print themselves comes before. */
const RUNNER = `const failures = [];
for (const file of process.argv.slice(2)) await import(file).catch((error) => failures.push(\`\${file}: \${error?.stack ?? error}\`));
console.log('\\n' + JSON.stringify(failures));
`;

/** What a reader installs; here it is the source. */
const OWN_PACKAGE = { '@settlement-index/client': join(ROOT, 'client/index.ts') };

function compile(files: readonly string[], directory: string): string[] {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, directory);
  // A block shows what it makes; its use is the reader's.
  const paths = Object.fromEntries(Object.entries(OWN_PACKAGE).map(([name, file]) => [name, [file]]));
  const program = ts.createProgram([...files], { ...options, paths, noUnusedLocals: false, noEmit: true });
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    const text = ts.flattenDiagnosticMessageText(messageText, ' ');
    return `${file?.fileName ?? ''}: ${text}`;
  });
}
