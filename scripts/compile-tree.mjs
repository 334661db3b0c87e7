import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The sources as JavaScript, everything where it stands in the repository: what has no `.ts` is copied, and folders without a process of
 * their own are links. Types are not checked. A process that is started so needs no loader, which costs each process and each thread of
 * it a second of a core.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The program, and the demo. */
export const PROGRAM_FOLDERS = ['core', 'clickhouse', 'ingest', 'sandbox', 'src', 'demo'];

/** As esbuild prints the path of an import: of a statement, or of a call with a text. */
const IMPORT_OF_SOURCE = /(\b(?:from|import)\s*\(?\s*"\.{1,2}\/[^"\n]*)\.ts(")/g;

/** The name of a file that a process is writing. */
const HALF = /\.half-\d+$/;

/**
 * Brings `directory` up to date: writes what is missing or has another time of change than its source, and removes what has no source.
 * Two may do so at once: a file is replaced whole.
 */
export function compileTree(directory, folders = PROGRAM_FOLDERS) {
  const sources = folders.flatMap((folder) => filesOf(ROOT, folder));
  const stale = sources.filter((source) => !isFresh(source, join(directory, compiledName(source))));
  for (const source of stale.filter((one) => !one.endsWith('.ts')))
    replace(source, join(directory, source), (file) => copyFileSync(join(ROOT, source), file));
  compile(
    directory,
    stale.filter((one) => one.endsWith('.ts')),
  );
  const wanted = new Set(sources.map(compiledName));
  for (const folder of folders)
    for (const file of filesOf(directory, folder))
      if (!wanted.has(file) && !HALF.test(file)) rmSync(join(directory, file));
  const compiled = new Set(folders.map((folder) => folder.split('/')[0]));
  for (const name of readdirSync(ROOT).filter((one) => !one.startsWith('.') && !compiled.has(one)))
    link(join(ROOT, name), join(directory, name));
}

function compile(directory, sources) {
  if (sources.length === 0) return;
  // Only here: to load it takes longer than to see that nothing has changed.
  const { buildSync, stop } = createRequire(import.meta.url)('esbuild');
  const { outputFiles } = buildSync({
    absWorkingDir: ROOT,
    entryPoints: sources,
    outbase: ROOT,
    outdir: directory,
    bundle: false,
    format: 'esm',
    target: 'node20.19',
    write: false,
  });
  // Else its process lives as long as this one, with a hundred megabytes.
  void stop();
  const texts = new Map(outputFiles.map(({ path, text }) => [path, text]));
  for (const source of sources) {
    const output = join(directory, compiledName(source));
    const text = texts.get(output)?.replaceAll(IMPORT_OF_SOURCE, '$1.js$2') ?? '';
    replace(source, output, (file) => writeFileSync(file, text));
  }
}

function compiledName(source) {
  return source.replace(/\.ts$/, '.js');
}

function isFresh(source, output) {
  const made = statSync(output, { throwIfNoEntry: false });
  return made !== undefined && Math.round(made.mtimeMs) === changedMs(source);
}

/** A file system keeps a time that it is told with an error of less than a millisecond. */
function changedMs(source) {
  return Math.floor(statSync(join(ROOT, source)).mtimeMs);
}

function replace(source, output, write) {
  mkdirSync(dirname(output), { recursive: true });
  const half = `${output}.half-${process.pid}`;
  write(half);
  const seconds = changedMs(source) / 1_000;
  utimesSync(half, seconds, seconds);
  renameSync(half, output);
}

function link(target, path) {
  if (existsSync(path)) return;
  try {
    symlinkSync(target, path);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error; // another process made it at the same time
  }
}

/** From the root. */
function filesOf(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.d.ts'))
    .map((entry) => join(entry.parentPath, entry.name).slice(join(root, '/').length));
}
