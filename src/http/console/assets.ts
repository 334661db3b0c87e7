import { readdir, readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** One file of the console as a browser gets it. Its name holds a hash of its content. */
export interface ConsoleFile {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

/** The bundled console: files by name, and which of them the page begins with. */
export interface ConsoleBuild {
  readonly script: string;
  readonly style: string;
  readonly files: ReadonlyMap<string, ConsoleFile>;
}

/** The oldest browsers it runs in are those that know `light-dark()`: of 2024. */
const TARGET = 'es2022';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/**
 * Bundles `console/` from its sources, in memory, in about half a second: scripts in chunks, one style sheet. The bundler is
 * loaded here and nowhere else, so a compiled service, which has the files already, does without it.
 */
export async function buildConsole(): Promise<ConsoleBuild> {
  const { build } = await import('esbuild');
  const { outputFiles, metafile } = await build({
    absWorkingDir: fileURLToPath(new URL('../../../', import.meta.url)),
    entryPoints: { app: 'console/main.tsx', style: 'console/style/console.css' },
    outdir: 'out',
    bundle: true,
    splitting: true,
    format: 'esm',
    target: TARGET,
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // What the compiler's own configuration says is for the compiler.
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
  const files = new Map(
    outputFiles.map(({ path, contents }) => [
      basename(path),
      { mediaType: mediaTypeOf(path), bytes: contents },
    ]),
  );
  const entries = Object.entries(metafile.outputs);
  const nameOf = (source: string): string => {
    const [path] = entries.find(([, { entryPoint }]) => entryPoint === source) ?? [];
    if (path === undefined) throw new Error(`the bundle has no ${source}`);
    return basename(path);
  };
  return { script: nameOf('console/main.tsx'), style: nameOf('console/style/console.css'), files };
}

function mediaTypeOf(path: string): string {
  return MEDIA_TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
}

/** Where the console's files come from, and their compressed forms. */

/** What `npm run build` writes next to the compiled service: the files, and this list. */
export const CONSOLE_MANIFEST = 'manifest.json';

export interface ConsoleManifest {
  readonly script: string;
  readonly style: string;
  readonly mediaTypes: Readonly<Record<string, string>>;
}

/** From the sources under `tsx`, from the build in the compiled service. */
export function loadConsole(): Promise<ConsoleBuild> {
  return extname(import.meta.url) === '.ts'
    ? buildConsole()
    : readConsole(new URL('../../../console/assets/', import.meta.url));
}

export async function readConsole(directory: URL): Promise<ConsoleBuild> {
  const text = await readFile(new URL(CONSOLE_MANIFEST, directory), 'utf8');
  const { script, style, mediaTypes } = JSON.parse(text) as ConsoleManifest; // written by our own build
  const files = new Map<string, ConsoleFile>();
  for (const name of await readdir(directory)) {
    const mediaType = mediaTypes[name];
    if (mediaType !== undefined)
      files.set(name, { mediaType, bytes: await readFile(new URL(name, directory)) });
  }
  return { script, style, files };
}

export type Encoding = 'br' | 'gzip' | 'identity';

/** Close to the smallest that each can do, in a few ten milliseconds of another thread, once for each file. */
const BROTLI_QUALITY = 9;
const GZIP_LEVEL = 9;

export function compressed(bytes: Uint8Array, encoding: Encoding): Promise<Uint8Array> {
  switch (encoding) {
    case 'br':
      return promisify(brotliCompress)(bytes, {
        params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
      });
    case 'gzip':
      return promisify(gzip)(bytes, { level: GZIP_LEVEL });
    case 'identity':
      return Promise.resolve(bytes);
  }
}

/** The best that the browser takes; a coding with q=0 is refused. Source: RFC 9110 12.5.3. */
export function acceptedEncoding(header: string | undefined): Encoding {
  const refused = /^q=0(?:\.0*)?$/;
  const taken = (header ?? '').split(',').flatMap((part) => {
    const [name = '', ...weights] = part.split(';').map((piece) => piece.trim().toLowerCase());
    return weights.some((weight) => refused.test(weight)) ? [] : [name];
  });
  if (taken.includes('br')) return 'br';
  return taken.includes('gzip') ? 'gzip' : 'identity';
}
