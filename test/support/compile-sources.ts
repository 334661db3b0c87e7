import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { inject } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The program, and the processes that tests start. */
const FOLDERS = ['clickhouse', 'ingest', 'sandbox', 'src', 'test/support'];

/**
 * The sources as JavaScript, so that a process that is started dozens of times starts in a fraction of the time that it takes from
 * its sources. Made by whoever asks first in a run, for all that come after. Types are not checked here. Answers the directory,
 * in which everything stands where it does in the repository.
 */
export function compiledSources(): string {
  const directory = join(inject('scratch'), 'compiled');
  if (existsSync(directory)) return directory;
  const making = mkdtempSync(join(inject('scratch'), 'compiling-'));
  for (const folder of FOLDERS) compileFolder(folder, making);
  const compiled = new Set(FOLDERS.map((folder) => folder.split('/')[0]));
  for (const name of readdirSync(ROOT).filter((one) => !one.startsWith('.') && !compiled.has(one)))
    symlinkSync(join(ROOT, name), join(making, name));
  try {
    // Whole or not at all, for those that look at the same time.
    renameSync(making, directory);
  } catch (error) {
    rmSync(making, { recursive: true });
    if (!existsSync(directory)) throw error;
  }
  return directory;
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
