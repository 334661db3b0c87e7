import type { FastifyInstance } from 'fastify';
import type { RequestMark, RequestMarks } from '../../core/process/request-marks.ts';

/** Marks each request for the watch over the event loop before any of it is read. To be installed before all other hooks. */
export function installRequestMarks(app: FastifyInstance, marks: RequestMarks): void {
  const open = new WeakMap<object, RequestMark>();
  app.addHook('onRequest', (request, reply, done) => {
    const mark = marks.begin(request.raw.url ?? '');
    open.set(request, mark);
    reply.raw.once('close', mark.end);
    done();
  });
  app.addHook('preValidation', (request, _reply, done) => {
    if (Buffer.isBuffer(request.body)) open.get(request)?.body(request.body);
    done();
  });
}
