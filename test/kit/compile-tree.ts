import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The program, and the processes that tests start. */
const FOLDERS = ['core', 'clickhouse', 'ingest', 'sandbox', 'src', 'test/kit'];

/** Writes the sources as JavaScript into `directory`, everything where it stands in the repository. Types are not checked. */
export function compileTree(directory: string): void {
  for (const folder of FOLDERS) compileFolder(folder, directory);
  const compiled = new Set(FOLDERS.map((folder) => folder.split('/')[0]));
  for (const name of readdirSync(ROOT).filter((one) => !one.startsWith('.') && !compiled.has(one)))
    symlinkSync(join(ROOT, name), join(directory, name));
}

function compileFolder(folder: string, target: string): void {
  for (const entry of readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const from = join(entry.parentPath, entry.name);
    const to = join(target, from.slice(ROOT.length));
    mkdirSync(dirname(to), { recursive: true });
    if (from.endsWith('.ts')) writeFileSync(to.replace(/\.ts$/, '.js'), compile(from));
    else cpSync(from, to);
  }
}

function compile(file: string): string {
  const { outputText } = ts.transpileModule(readFileSync(file, 'utf8'), {
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      rewriteRelativeImportExtensions: true,
    },
  });
  return outputText;
}
