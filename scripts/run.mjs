import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compileTree } from './compile-tree.mjs';

/**
 * `node scripts/run.mjs src/main.ts …`: runs a program from its sources, compiled. What is compiled is kept, so that the next start
 * compiles only what has changed.
 */

const [, , entry, ...args] = process.argv;
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const KEY_CHARS = 12;

/** Whatever decides how a file is compiled. */
const key = createHash('sha256');
for (const file of ['scripts/compile-tree.mjs', 'node_modules/esbuild/package.json'])
  key.update(readFileSync(join(ROOT, file)));
const kept = join(ROOT, 'node_modules/.cache/settlement-index', key.digest('hex').slice(0, KEY_CHARS));
const directory = compiled(kept);
const main = join(directory, entry.replace(/\.ts$/, '.js'));
process.argv = [process.argv[0], main, ...args];
await import(pathToFileURL(main).href);

/** A user who may not write there compiles everything, into a directory of the process that started it all. */
function compiled(wanted) {
  try {
    compileTree(wanted);
    return wanted;
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(error.code)) throw error;
    const own = mkdtempSync(join(tmpdir(), 'settlement-index-'));
    process.once('exit', () => rmSync(own, { recursive: true, force: true }));
    compileTree(own);
    return own;
  }
}
