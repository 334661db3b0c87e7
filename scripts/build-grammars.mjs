import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

/**
 * Writes the grammars of four dialects, each as one file, to sandbox/dialects/grammars. They are committed: the package that they come from
 * is 89 MB, and these files are 1 MB. Run it when scripts/tools gets another version of the package, after `npm ci --prefix scripts/tools`.
 */
const DIALECTS = ['postgresql', 'trino', 'bigquery', 'mysql'];
const directory = fileURLToPath(new URL('../sandbox/dialects/grammars', import.meta.url));
const packages = fileURLToPath(new URL('tools/node_modules', import.meta.url));

mkdirSync(directory, { recursive: true });
buildSync({
  entryPoints: DIALECTS.map((dialect) => `${packages}/node-sql-parser/build/${dialect}.js`),
  entryNames: '[name]',
  outdir: directory,
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  format: 'cjs',
  minify: true,
  logLevel: 'warning',
});

const notices = ['node-sql-parser', 'big-integer'].map(
  (name) => `${name}\n\n${readFileSync(`${packages}/${name}/LICENSE`, 'utf8').trim()}\n`,
);
writeFileSync(`${directory}/LICENSES.txt`, notices.join('\n\n'));
