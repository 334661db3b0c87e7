import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fail } from '../../../core/errors.ts';
import { weakTag } from '../../../core/weak-tag.ts';
import { escapeHtml } from '../../docs-site/markdown.ts';
import { type BoardDeps, visibleBoard } from '../../operations/dashboards/boards.ts';
import { matchesEtag, pagePolicy, VARY } from '../headers.ts';
import { installRefusedMethods } from '../methods.ts';
import { NOBODY } from '../share/route.ts';
import { acceptedEncoding, type ConsoleBuild, compressed, loadConsole, mediaTypeOf } from './assets.ts';
import { HOME_WORDS, metaTags, type PageWords, wordsOf } from './meta-tags.ts';
import { installSender } from './sender.ts';

/** The web console: one page at every address below /console, and its files, which never change under their names. */

interface ConsoleOptions {
  /** The key that is lent to visitors without one; null to lend none. */
  readonly visitorKey: string | null;
  /** Where dashboards are read, for the words of links and for frames; absent where there are none. */
  readonly deps?: BoardDeps;
  /** Replaces `loadConsole`. */
  readonly load?: () => Promise<ConsoleBuild>;
}

const PATHS = ['/console', '/console/*', '/console/shared/:token', '/console/assets/:name'] as const;

export function installConsole(app: FastifyInstance, options: ConsoleOptions): void {
  // The hook of `refuseOtherSites` must apply to these routes only.
  app.register((scope, _options, done) => {
    serveConsole(scope, options);
    done();
  });
}

function serveConsole(app: FastifyInstance, { visitorKey, deps, load = loadConsole }: ConsoleOptions): void {
  refuseOtherSites(app);
  const build = once(load);
  const sendPage = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const path = request.url.split('?', 1)[0] ?? '';
    const words = deps === undefined ? HOME_WORDS : await wordsOf(path, deps);
    const tags = metaTags(words, { path, publicUrl: deps?.deployment.publicUrl ?? '' });
    const text = pageText(await build(), { visitorKey, words, tags });
    const etag = weakTag(text);
    reply.headers({ ...PAGE_HEADERS, 'cache-control': 'no-cache', etag });
    if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send();
    return reply.type('text/html; charset=utf-8').send(text);
  };
  app.get('/console', sendPage);
  app.get('/console/*', sendPage);
  // Links to results are for those who have them.
  app.get('/console/shared/:token', (request, reply) =>
    sendPage(request, reply.header('x-robots-tag', 'noindex, nofollow')),
  );
  // Compressed by `fileSender` once a file; the plugin would compress every answer.
  app.get('/console/assets/:name', { compress: false }, fileSender(build));
  for (const url of [...PATHS, ...installSender(app)]) installRefusedMethods(app, url);
  if (deps !== undefined) serveFrames(app, build, deps);
}

const FRAME_PATH = '/embed/:owner/:slug';

interface FrameRequest {
  Params: { owner: string; slug: string };
  Querystring: { token?: string | string[] };
}

/**
 * The one page that other sites may show in a frame: a dashboard without anything to click that changes something. It holds no key, and
 * one that the browser keeps is not sent from it.
 */
function serveFrames(app: FastifyInstance, build: () => Promise<ConsoleBuild>, deps: BoardDeps): void {
  app.get<FrameRequest>(FRAME_PATH, async (request, reply) => {
    const { owner, slug } = request.params;
    const { token } = request.query;
    // Refused here, so that what a frame may show is decided by the service and not by the page.
    await visibleBoard({ owner, slug, token: typeof token === 'string' ? token : undefined }, deps, NOBODY);
    const text = pageText(await build(), {
      visitorKey: null,
      words: HOME_WORDS,
      tags: '<base target="_blank">',
    });
    return reply.headers(FRAME_HEADERS).type('text/html; charset=utf-8').send(text);
  });
  installRefusedMethods(app, FRAME_PATH);
}

/** The page may hold a key that is lent to visitors, so scripts of other sites must not read it. A preflight from them gets no CORS headers. */
function refuseOtherSites(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.removeHeader('access-control-allow-origin').removeHeader('access-control-expose-headers');
    done();
  });
  for (const url of PATHS)
    app.options(url, (_request, reply) => reply.code(204).header('allow', 'GET, HEAD, OPTIONS').send());
}

const PAGE_HEADERS = {
  'content-security-policy': `${pagePolicy("'none'")}; frame-src 'self'`,
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'x-frame-options': 'DENY',
} as const;

const FRAME_HEADERS = {
  'content-security-policy': pagePolicy("'none'", '*'),
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
} as const;

/** The mark of the index in the browser's tab. As an image it cannot run scripts. */
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Cpath d='M3 7h9a5 5 0 0 1 0 10H3' fill='none' stroke='%230b8a6a' stroke-width='2.6'/%3E%3Ccircle cx='20' cy='12' r='2.8' fill='%230b8a6a'/%3E%3C/svg%3E";

interface PageFacts {
  readonly visitorKey: string | null;
  readonly words: PageWords;
  /** Further elements of the head, escaped. */
  readonly tags: string;
}

/** Keys are letters, digits and `_`, and names of files are our own: nothing else needs escaping. */
function pageText({ script, style }: ConsoleBuild, { visitorKey, words, tags }: PageFacts): string {
  const visitor = visitorKey === null ? '' : `<meta name="six-visitor-key" content="${visitorKey}">\n`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(words.title)}</title>
<meta name="description" content="${escapeHtml(words.description)}">
${tags}
${visitor}<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="/console/assets/${style}">
<script type="module" src="/console/assets/${script}"></script>
</head>
<body>
<div id="app"></div>
<noscript><p>The console needs JavaScript. <a href="/openapi.json">The API</a> serves the same data without it.</p></noscript>
</body>
</html>
`;
}

const ONE_YEAR_IMMUTABLE = 'public, max-age=31536000, immutable';

interface FileRequest {
  Params: { name: string };
}

/** Sends files in the best encoding of the request. Each file is compressed once for each encoding. */
function fileSender(build: () => Promise<ConsoleBuild>) {
  const compressions = new Map<string, Promise<Uint8Array>>();
  return async (request: FastifyRequest<FileRequest>, reply: FastifyReply): Promise<unknown> => {
    const { name } = request.params;
    const file = (await build()).files.get(name);
    if (file === undefined)
      throw fail('not_found', {
        detail: 'The console has no such file. It may have been updated: load the page again.',
      });
    const etag = `W/"${name}"`;
    reply.headers({ 'cache-control': ONE_YEAR_IMMUTABLE, etag, vary: `${VARY}, Accept-Encoding` });
    if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send();
    const encoding = acceptedEncoding(request.headers['accept-encoding']);
    const compression = compressions.get(`${encoding} ${name}`) ?? compressed(file, encoding);
    compressions.set(`${encoding} ${name}`, compression);
    const bytes = await compression;
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    return reply.type(mediaTypeOf(name)).send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  };
}

/** Runs `make` at the first request and shares its result; after a failure the next request runs it again. */
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
