import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { fail } from '../../core/errors.ts';
import type { DocsSite, ServedText } from '../docs-site/docs-site.ts';
import { matchesEtag, pagePolicy } from './headers.ts';
import { installRefusedMethods } from './methods.ts';

/** A reader of several pages loads styles and scripts once. */
const TEXT_MAX_AGE_SECONDS = 300;

const PAGE_POLICY = pagePolicy("'self'");

/** `/docs` with its pages and assets, `/llms.txt` and `/llms-full.txt`. */
export function installDocs(app: FastifyInstance, site: DocsSite): void {
  const fixed: Readonly<Record<string, () => ServedText>> = {
    '/docs': site.index,
    '/docs/search.json': site.search,
    '/llms.txt': site.llms,
    '/llms-full.txt': site.llmsFull,
  };
  for (const [url, text] of Object.entries(fixed)) {
    app.get(url, (request, reply) => atItsName(request, reply) ?? sendText(request, reply, text()));
    installRefusedMethods(app, url);
  }
  app.get<{ Params: { page: string } }>('/docs/:page', (request, reply) => {
    const { page } = request.params;
    const elsewhere = atItsName(request, reply);
    if (elsewhere !== null) return elsewhere;
    const text = page.endsWith('.md') ? site.markdown(page.slice(0, -'.md'.length)) : site.page(page);
    return text === undefined ? sendMissing(request, reply, site) : sendText(request, reply, text);
  });
  app.get<{ Params: { operation: string } }>('/docs/operations/:operation', (request, reply) => {
    const slug = `operations/${request.params.operation}`;
    const elsewhere = atItsName(request, reply);
    if (elsewhere !== null) return elsewhere;
    const text = slug.endsWith('.md') ? site.markdown(slug.slice(0, -'.md'.length)) : site.page(slug);
    return text === undefined ? sendMissing(request, reply, site) : sendText(request, reply, text);
  });
  app.get<{ Params: { file: string } }>('/docs/assets/:file', (request, reply) => {
    const text = site.asset(request.params.file);
    return text === undefined ? sendMissing(request, reply, site) : sendText(request, reply, text);
  });
  for (const url of ['/docs/:page', '/docs/operations/:operation', '/docs/assets/:file'])
    installRefusedMethods(app, url);
}

/** Links of a page are relative to its address without a slash at the end: another one is redirected there. */
function atItsName({ url }: FastifyRequest, reply: FastifyReply): FastifyReply | null {
  const [, name] = /\/([^/?]+)\/(?:\?|$)/.exec(url) ?? [];
  return name === undefined ? null : reply.redirect(`../${name}`, 308);
}

/** Sends a text that is the same for all callers, or 304 to a caller that has it. */
export function sendText(
  request: FastifyRequest,
  reply: FastifyReply,
  text: ServedText,
  vary = 'Accept-Encoding',
): FastifyReply {
  const { type, body, etag } = text;
  reply.header('etag', etag).header('vary', vary);
  reply.header('cache-control', `public, max-age=${TEXT_MAX_AGE_SECONDS}`);
  if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send();
  return sendBody(reply, type, body);
}

function sendBody(reply: FastifyReply, type: string, body: string | Buffer): FastifyReply {
  if (type.startsWith('text/html'))
    reply.header('content-security-policy', PAGE_POLICY).header('referrer-policy', 'no-referrer');
  return reply.header('content-type', type).send(body);
}

/** Browsers get a page with links, programs the problem that every other route answers with. */
function sendMissing(request: FastifyRequest, reply: FastifyReply, site: DocsSite): FastifyReply {
  if (!/\btext\/html\b/.test(request.headers.accept ?? ''))
    throw fail('not_found', { detail: 'There is no such page. /llms.txt lists all of them.' });
  const { type, body } = site.missing();
  return sendBody(reply.code(404).header('cache-control', 'no-store'), type, body);
}
