import type { FastifyInstance } from 'fastify';
import type { Reader } from '../../clickhouse/engine/engine.ts';
import type { Clock } from '../../core/clock.ts';
import type { DocsSite } from '../docs-site/docs-site.ts';
import { cached } from '../operations/ask.ts';
import { checkReady } from '../operations/index-state/index-state.ts';
import { installRefusedMethods } from './api-routes.ts';
import { sendText } from './docs-routes.ts';
import { installFrontPage } from './front-page.ts';
import { type PriceFacts, plansPage } from './pages.ts';

const READY_MAX_AGE_MS = 500;
/** Asked every few seconds by platforms: apart from what callers ask. */
const HEALTH = { config: { observedAs: 'health' } };

/** What is served beside the API: health for the platform, the machine-readable description, the pages answers link to. */
export function installServiceRoutes(
  app: FastifyInstance,
  service: {
    readonly reader: Reader;
    readonly clock: Clock;
    readonly openApi: Readonly<Record<string, unknown>>;
    readonly prices: PriceFacts;
    readonly docs: DocsSite;
    readonly version: string;
    /** The URL callers use, without a slash at its end; '' when the deployment does not know it. */
    readonly publicUrl: string;
  },
): void {
  app.get('/healthz', HEALTH, (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  );
  // Outside the quota, so at most a few checks a second may reach the engine.
  const ready = cached({
    clock: service.clock,
    maxAgeMs: READY_MAX_AGE_MS,
    load: () => checkReady(service.reader),
  });
  app.get('/readyz', HEALTH, async (_request, reply) => {
    await ready();
    return reply.header('cache-control', 'no-store').send({ status: 'ready' });
  });
  const openApi = JSON.stringify(service.openApi);
  app.get('/openapi.json', (_request, reply) =>
    reply
      .header('cache-control', 'public, max-age=300')
      .header('content-type', 'application/json; charset=utf-8')
      .send(openApi),
  );
  const plans = service.docs.framed({
    title: 'Plans and prices',
    description: 'Plans, what each route costs, and how an organization gets more Query Units.',
    body: plansPage(service.prices),
  });
  app.get('/plans', (request, reply) => sendText(request, reply, plans));
  installFrontPage(app, service);
  for (const url of ['/healthz', '/readyz', '/openapi.json', '/plans']) installRefusedMethods(app, url);
}
