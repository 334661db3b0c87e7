import Fastify from 'fastify';
import type { Browser } from 'playwright-core';
import { buildConsole } from '../../../src/http/console/assets.ts';
import { installConsole } from '../../../src/http/console/route.ts';
import { startBrowser } from '../browser.ts';

/** The page of the parts without the service behind it, which it asks for nothing. */
interface PartsServer {
  readonly origin: string;
  close(): Promise<unknown>;
}

/** With a browser. */
export interface PartsWorld extends PartsServer {
  readonly browser: Browser;
}

export async function serveParts(): Promise<PartsServer> {
  const build = await buildConsole('test/kit/parts/main.tsx');
  const app = Fastify();
  app.register((routes, _options, done) => {
    installConsole(routes, { visitorKey: null, load: () => Promise.resolve(build) });
    done();
  });
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  return { origin, close: () => app.close() };
}

export async function openParts(): Promise<PartsWorld> {
  const [{ origin, close }, browser] = await Promise.all([serveParts(), startBrowser()]);
  return { origin, browser, close: () => browser.close().then(close) };
}
