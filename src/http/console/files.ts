import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { buildConsole, type ConsoleBuild, type ConsoleFile } from './build.ts';

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
