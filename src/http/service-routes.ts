import type { FastifyInstance } from 'fastify';
import type { Reader } from '../../clickhouse/engine.ts';
import type { Clock } from '../clock.ts';
import { cached } from '../reads/cached.ts';
import { checkReady } from '../reads/engine-health.ts';
import { installRefusedMethods } from './api-routes.ts';
import { errorsPage, type PriceFacts, plansPage } from './pages.ts';

const READY_MAX_AGE_MS = 500;

/** What is served beside the API: health for the platform, the machine-readable description, the pages answers link to. */
export function installServiceRoutes(
  app: FastifyInstance,
  service: {
    readonly reader: Reader;
    readonly clock: Clock;
    readonly openApi: Readonly<Record<string, unknown>>;
    readonly prices: PriceFacts;
  },
): void {
  app.get('/healthz', (_request, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' }));
  // Outside the quota, so at most a few checks a second may reach the engine.
  const ready = cached({
    clock: service.clock,
    maxAgeMs: READY_MAX_AGE_MS,
    load: () => checkReady(service.reader),
  });
  app.get('/readyz', async (_request, reply) => {
    await ready();
    return reply.header('cache-control', 'no-store').send({ status: 'ready' });
  });
  const texts = {
    '/openapi.json': { type: 'application/json; charset=utf-8', body: JSON.stringify(service.openApi) },
    '/docs/errors': { type: 'text/html; charset=utf-8', body: errorsPage() },
    '/plans': { type: 'text/html; charset=utf-8', body: plansPage(service.prices) },
  };
  for (const [url, { type, body }] of Object.entries(texts)) {
    app.get(url, (_request, reply) =>
      reply.header('cache-control', 'public, max-age=300').header('content-type', type).send(body),
    );
  }
  for (const url of ['/healthz', '/readyz', ...Object.keys(texts)]) installRefusedMethods(app, url);
}
