import type { FastifyInstance } from 'fastify';

/**
 * A frame that sends one request to another site for the console. The policy of the console allows requests to the service alone, because
 * the page may hold a key. The frame has no key: it is sandboxed, so its origin is opaque, and it can neither read the storage of the
 * console nor its page. The console gives it a request and gets back what the browser lets a script read of the answer.
 */
const SENDER_PATH = '/console/frame/sender';
const SCRIPT_PATH = '/console/frame/sender.js';

const SENDER_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; connect-src https: http:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts",
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'SAMEORIGIN',
  'cache-control': 'no-cache',
} as const;

const PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sends a request</title><script src="${SCRIPT_PATH}"></script></head><body></body></html>\n`;

/** A 402 is some kilobytes; the text of any other answer is not shown. */
const ANSWER_MAX_CHARS = 100_000;
const ANSWER_MAX_MS = 20_000;

const SCRIPT = `addEventListener('message', async ({ source, data, origin }) => {
  if (source !== parent) return;
  const { url, method, body } = data;
  const tell = (answer) => parent.postMessage(answer, origin);
  try {
    if (!/^https?:$/.test(new URL(url).protocol)) throw new TypeError('not http');
    const answer = await fetch(url, {
      method,
      body: body ?? undefined,
      headers: body === null ? {} : { 'content-type': 'application/json' },
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      cache: 'no-store',
      signal: AbortSignal.timeout(${ANSWER_MAX_MS}),
    });
    const text = answer.status === 402 ? (await answer.text()).slice(0, ${ANSWER_MAX_CHARS}) : '';
    tell({ status: answer.status, required: answer.headers.get('payment-required'), text });
  } catch (error) {
    tell({ failed: error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'unreadable' });
  }
});
parent.postMessage({ ready: true }, '*');
`;

export function installSender(app: FastifyInstance): readonly string[] {
  app.get(SENDER_PATH, (_request, reply) =>
    reply.headers(SENDER_HEADERS).type('text/html; charset=utf-8').send(PAGE),
  );
  app.get(SCRIPT_PATH, (_request, reply) =>
    reply.headers(SENDER_HEADERS).type('text/javascript; charset=utf-8').send(SCRIPT),
  );
  return [SENDER_PATH, SCRIPT_PATH];
}
