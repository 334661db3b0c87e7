import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

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
