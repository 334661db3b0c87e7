import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fail } from '../../../core/errors.ts';
import { weakTag } from '../../../core/weak-tag.ts';
import { matchesEtag, pagePolicy, VARY } from '../headers.ts';
import { installRefusedMethods } from '../methods.ts';
import { acceptedEncoding, type ConsoleBuild, compressed, type Encoding, loadConsole } from './assets.ts';

/** The sign of the index, as the tab shows it. Scripts and styles in it would not run: it is a picture. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Cpath d='M3 7h9a5 5 0 0 1 0 10H3' fill='none' stroke='%230b8a6a' stroke-width='2.6'/%3E%3Ccircle cx='20' cy='12' r='2.8' fill='%230b8a6a'/%3E%3C/svg%3E";

export interface ConsolePage {
  readonly text: string;
  readonly etag: string;
}

/** The page that every address of the console gets. Keys are letters, digits and `_`: nothing in it needs escaping. */
export function consolePage(
  { script, style }: Pick<ConsoleBuild, 'script' | 'style'>,
  visitorKey: string | null,
): ConsolePage {
  const visitor = visitorKey === null ? '' : `<meta name="six-visitor-key" content="${visitorKey}">\n`;
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Settlement Index</title>
<meta name="description" content="x402 settlements and ERC-8004 agents: live flow, wallets, SQL.">
${visitor}<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="/console/assets/${style}">
<script type="module" src="/console/assets/${script}"></script>
</head>
<body>
<div id="app"></div>
<noscript><p>The console needs JavaScript. The same data is at <a href="/openapi.json">the API</a>, which does not.</p></noscript>
</body>
</html>
`;
  return { text, etag: weakTag(text) };
}

/** The web console: one page at every address below /console, and its files, which never change under their names. */

export interface ConsoleOptions {
  /** Lent to visitors without a key; null for none. */
  readonly visitorKey: string | null;
  /** Where the files come from instead of the sources or the build. */
  readonly load?: () => Promise<ConsoleBuild>;
}

const PAGE_HEADERS = {
  'content-security-policy': pagePolicy("'none'"),
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'x-frame-options': 'DENY',
} as const;

const FOREVER = 'public, max-age=31536000, immutable';

const PATHS = ['/console', '/console/*', '/console/assets/:name'] as const;

export function installConsole(app: FastifyInstance, options: ConsoleOptions): void {
  // A scope of its own, for its hook.
  app.register((scope, _options, done) => {
    serveConsole(scope, options);
    done();
  });
}

function serveConsole(app: FastifyInstance, { visitorKey, load = loadConsole }: ConsoleOptions): void {
  refuseOtherSites(app);
  const build = once(load);
  const files = createFiles(build);
  const sendPage = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { text, etag } = consolePage(await build(), visitorKey);
    reply.headers({ ...PAGE_HEADERS, 'cache-control': 'no-cache', etag });
    if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send();
    return reply.type('text/html; charset=utf-8').send(text);
  };
  app.get('/console', sendPage);
  app.get('/console/*', sendPage);
  // Compressed here, once; the plugin would do it for every request.
  app.get<{ Params: { name: string } }>('/console/assets/:name', { compress: false }, (request, reply) =>
    sendFile(files, request, reply),
  );
  for (const url of PATHS) installRefusedMethods(app, url);
}

/** The page may hold a key that is lent to visitors: scripts of other sites must not read it, nor learn from a preflight that they may. */
function refuseOtherSites(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.removeHeader('access-control-allow-origin').removeHeader('access-control-expose-headers');
    done();
  });
  for (const url of PATHS)
    app.options(url, (_request, reply) => reply.code(204).header('allow', 'GET, HEAD, OPTIONS').send());
}

interface ReadyFile {
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

interface Files {
  find(name: string, encoding: Encoding): Promise<ReadyFile | undefined>;
}

/** Every file in every form that was asked for, made once. */
function createFiles(build: () => Promise<ConsoleBuild>): Files {
  const made = new Map<string, Promise<Uint8Array>>();
  return {
    find: async (name, encoding) => {
      const file = (await build()).files.get(name);
      if (file === undefined) return undefined;
      const at = `${encoding} ${name}`;
      const bytes = made.get(at) ?? compressed(file.bytes, encoding);
      made.set(at, bytes);
      return { mediaType: file.mediaType, bytes: await bytes };
    },
  };
}

async function sendFile(
  files: Files,
  request: FastifyRequest<{ Params: { name: string } }>,
  reply: FastifyReply,
): Promise<unknown> {
  const { name } = request.params;
  const encoding = acceptedEncoding(request.headers['accept-encoding']);
  const file = await files.find(name, encoding);
  if (file === undefined)
    throw fail('not_found', {
      detail: 'The console has no such file; it may have been updated. Load the page again.',
    });
  const etag = `W/"${name}"`;
  reply.headers({ 'cache-control': FOREVER, etag, vary: `${VARY}, Accept-Encoding` });
  if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send();
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return reply
    .type(file.mediaType)
    .send(Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.byteLength));
}

/** Made at the first request and shared by all; after a failure the next request tries again. */
function once<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
