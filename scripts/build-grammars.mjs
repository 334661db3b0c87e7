import { readFileSync, writeFileSync } from 'node:fs';
import { buildSync } from 'esbuild';

/**
 * Writes the grammars of four dialects to dist, each as one file. The package that they come from is 89 MB, of which these are 1 MB, so it
 * is a development package. Part of `npm run build`.
 */
const DIALECTS = ['postgresql', 'trino', 'bigquery', 'mysql'];
const directory = 'dist/sandbox/dialects/grammars';

buildSync({
  entryPoints: DIALECTS.map((dialect) => `node-sql-parser/build/${dialect}.js`),
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
  (name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, 'utf8').trim()}\n`,
);
writeFileSync(`${directory}/LICENSES.txt`, notices.join('\n\n'));
