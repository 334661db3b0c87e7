import type { FastifyRequest } from 'fastify';

/**
 * The form of an answer: one JSON object, or a stream of events with that object in its only event. The protocol asks clients to accept
 * both; those that name one of them alone get that one, all others what is at hand.
 */
type AnswerForm = 'json' | 'events' | 'either';

const JSON_TYPE = 'application/json';
const EVENTS_TYPE = 'text/event-stream';
export const BOTH_FORMS = `${JSON_TYPE}, ${EVENTS_TYPE}`;

export function answerForm({ headers: { accept = '*/*' } }: FastifyRequest): AnswerForm {
  const types = accept
    .toLowerCase()
    .split(',')
    .map((range) => range.split(';', 1)[0]?.trim() ?? '');
  const takes = (type: string): boolean =>
    types.some((one) => one === type || one === '*/*' || one === `${type.split('/', 1)[0]}/*`);
  const [json, events] = [takes(JSON_TYPE), takes(EVENTS_TYPE)];
  if (json === events) return 'either';
  return json ? 'json' : 'events';
}

/** The same answer in the form that the client reads. */
export async function inForm(response: Response, form: AnswerForm): Promise<Response> {
  const sent = response.headers.get('content-type')?.split(';', 1)[0] ?? '';
  if (form === 'json' && sent === EVENTS_TYPE)
    return inOther(response, JSON_TYPE, lastData(await response.text()));
  if (form === 'events' && sent === JSON_TYPE)
    return inOther(response, EVENTS_TYPE, `event: message\ndata: ${await response.text()}\n\n`);
  return response;
}

function inOther({ status, headers }: Response, type: string, body: string): Response {
  const written = new Headers(headers);
  written.set('content-type', type);
  return new Response(body, { status, headers: written });
}

/** The data of the last event. What comes before it are comments that keep the connection open. */
function lastData(events: string): string {
  const line = events.split('\n').findLast((one) => one.startsWith('data:')) ?? '';
  return line.slice('data:'.length).trim();
}
