import { readdir, readFile, realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { IS_CHECKOUT } from '../../../core/checkout.ts';

/** The files of the console: bundled from the sources, or read from the build, and compressed. */

export interface ConsoleBuild {
  /** The files that the page loads first. */
  readonly script: string;
  readonly style: string;
  /** By name. A name holds a hash of the content. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** What `npm run build` writes next to the files. */
export const CONSOLE_MANIFEST = 'manifest.json';
export type ConsoleManifest = Pick<ConsoleBuild, 'script' | 'style'>;

/** From the sources in a checkout, from the build in an installation. */
export async function loadConsole(): Promise<ConsoleBuild> {
  if (!IS_CHECKOUT) return readConsole(new URL('../../../console/assets/', import.meta.url));
  const { stop } = await import('esbuild');
  try {
    return await buildConsole();
  } finally {
    // Else its process stays, with a hundred megabytes.
    await stop();
  }
}

/** The oldest browsers are of 2024: the first that know `light-dark()`. */
const TARGET = 'es2022';

/**
 * Bundles `console/` in memory, in about half a second: scripts in chunks, and one style sheet. The bundler is imported here only, so
 * that the compiled service runs without it. Tests have a `script` of their own, which draws the parts alone.
 */
export async function buildConsole(script = 'console/main.tsx'): Promise<ConsoleBuild> {
  const { build } = await import('esbuild');
  const { outputFiles, metafile } = await build({
    // Compiled sources have a link to it.
    absWorkingDir: dirname(await realpath(new URL('../../../console', import.meta.url))),
    entryPoints: { app: script, style: 'console/style/console.css' },
    outdir: 'out',
    bundle: true,
    splitting: true,
    format: 'esm',
    target: TARGET,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // The compiler's configuration is for type checks alone.
    tsconfigRaw: {},
    minify: true,
    charset: 'utf8',
    legalComments: 'eof',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  const entries = Object.entries(metafile.outputs);
  const nameOf = (source: string): string => {
    const [path] = entries.find(([, { entryPoint }]) => entryPoint === source) ?? [];
    if (path === undefined) throw new Error(`the bundle has no ${source}`);
    return basename(path);
  };
  return {
    script: nameOf(script),
    style: nameOf('console/style/console.css'),
    files: new Map(outputFiles.map(({ path, contents }) => [basename(path), contents])),
  };
}

export async function readConsole(directory: URL): Promise<ConsoleBuild> {
  const text = await readFile(new URL(CONSOLE_MANIFEST, directory), 'utf8');
  const { script, style } = JSON.parse(text) as ConsoleManifest; // written by our own build
  const names = (await readdir(directory)).filter((name) => name !== CONSOLE_MANIFEST);
  const files = await Promise.all(
    names.map(async (name) => [name, await readFile(new URL(name, directory))] as const),
  );
  return { script, style, files: new Map(files) };
}

export function mediaTypeOf(name: string): string {
  return name.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8';
}

type Encoding = 'br' | 'gzip' | 'identity';

/** Close to the smallest result of each coding. Each file takes some ten milliseconds on another thread, once. */
const BROTLI_QUALITY = 9;
const GZIP_LEVEL = 9;

export async function compressed(bytes: Uint8Array, encoding: Encoding): Promise<Uint8Array> {
  switch (encoding) {
    case 'br':
      return promisify(brotliCompress)(bytes, {
        params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
      });
    case 'gzip':
      return promisify(gzip)(bytes, { level: GZIP_LEVEL });
    case 'identity':
      return bytes;
  }
}

/** The best coding that the browser accepts; q=0 refuses one. Source: RFC 9110 12.5.3. */
export function acceptedEncoding(header: string | undefined): Encoding {
  const refused = /^q=0(?:\.0*)?$/;
  const accepted = (header ?? '').split(',').flatMap((part) => {
    const [name = '', ...weights] = part.split(';').map((piece) => piece.trim().toLowerCase());
    return weights.some((weight) => refused.test(weight)) ? [] : [name];
  });
  if (accepted.includes('br')) return 'br';
  return accepted.includes('gzip') ? 'gzip' : 'identity';
}
