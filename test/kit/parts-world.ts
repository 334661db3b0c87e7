import Fastify from 'fastify';
import type { Browser } from 'playwright-core';
import { buildConsole } from '../../src/http/console/assets.ts';
import { installConsole } from '../../src/http/console/route.ts';
import { startBrowser } from './browser.ts';

/** The console without the service behind it, and a browser: for the page of the design system, which asks for nothing. */
export interface PartsWorld {
  readonly origin: string;
  readonly browser: Browser;
  close(): Promise<void>;
}

export async function openParts(): Promise<PartsWorld> {
  const [build, browser] = await Promise.all([buildConsole({ hasParts: true }), startBrowser()]);
  const app = Fastify();
  app.register((routes, _options, done) => {
    installConsole(routes, { visitorKey: null, load: () => Promise.resolve(build) });
    done();
  });
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    origin,
    browser,
    close: async () => {
      await browser.close();
      await app.close();
    },
  };
}
