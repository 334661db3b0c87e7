import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The program, and the processes that tests start. */
const FOLDERS = ['core', 'clickhouse', 'ingest', 'sandbox', 'src', 'demo', 'test/kit'];

/** As esbuild prints the path of an import: of a statement, or of a call with a text. */
const IMPORT_OF_SOURCE = /(\b(?:from|import)\s*\(?\s*"\.{1,2}\/[^"\n]*)\.ts(")/g;

/** Writes the sources as JavaScript into `directory`, everything where it stands in the repository. Types are not checked. */
export function compileTree(directory: string): void {
  const sources = FOLDERS.flatMap((folder) => filesOf(folder));
  const { outputFiles } = buildSync({
    absWorkingDir: ROOT,
    entryPoints: sources.filter((file) => file.endsWith('.ts')),
    outbase: ROOT,
    outdir: directory,
    bundle: false,
    format: 'esm',
    target: 'node20.19',
    write: false,
  });
  for (const { path, text } of outputFiles) write(path, text.replaceAll(IMPORT_OF_SOURCE, '$1.js$2'));
  for (const file of sources.filter((one) => !one.endsWith('.ts')))
    cpSync(join(ROOT, file), join(directory, file));
  const compiled = new Set(FOLDERS.map((folder) => folder.split('/')[0]));
  for (const name of readdirSync(ROOT).filter((one) => !one.startsWith('.') && !compiled.has(one)))
    symlinkSync(join(ROOT, name), join(directory, name));
}

/** From the root. */
function filesOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length));
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
