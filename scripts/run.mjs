import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
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
const directory = join(ROOT, 'node_modules/.cache/settlement-index', key.digest('hex').slice(0, KEY_CHARS));

compileTree(directory);
const main = join(directory, entry.replace(/\.ts$/, '.js'));
process.argv = [process.argv[0], main, ...args];
await import(pathToFileURL(main).href);
