import { RESOURCE_NAMES, RESOURCES } from '../../core/domain/resources.ts';
import { ERROR_CODES, ERRORS, type ErrorCode } from '../../core/errors.ts';
import { code, generatedHead, table } from './markdown.ts';

const INTRO = `Errors are \`application/problem+json\` (RFC 9457): \`type\` (a link to the code's page), \`title\`, \`status\`, \`detail\`, \`instance\`, and
\`code\`, \`request_id\`; where they apply also \`parameter\` (400), \`resource\` (503) and \`retry_after\` (429, 503; also the header \`Retry-After\`).
Branch on \`code\`; the other texts may be reworded.

`;

/** What a call that is sold, or opened by a key, may fail with besides its own errors. */
export const SOLD_CALL_ERRORS: readonly ErrorCode[] = [
  'invalid_api_key',
  'api_key_required',
  'payment_required',
  'payment_malformed',
  'payment_invalid',
  'payment_failed',
  'key_restricted',
  'payment_in_progress',
  'settlement_unknown',
];

export function errorsPage(): string {
  const overview = ERROR_CODES.map((name) => {
    const { status, title, retryable } = ERRORS[name];
    return [`[${code(name)}](#${name})`, String(status), title, retryable ? 'yes' : 'no'];
  });
  const resources = table(
    ['resource', 'what could not be read or reached'],
    RESOURCE_NAMES.map((name) => [code(name), RESOURCES[name]]),
  );
  const sections = ERROR_CODES.map((name) => {
    const { status, title, advice, retryable } = ERRORS[name];
    return `## ${name}\n\n${status} · ${title}. ${advice} ${retryable ? 'The same request may succeed later.' : 'The same request will fail again.'}\n${name === 'upstream_unavailable' ? `\n\`resource\` is one of these:\n\n${resources}` : ''}`;
  });
  return `${generatedHead('Errors', 'core/errors.ts')}${INTRO}${table(['code', 'status', 'meaning', 'retry'], overview)}\n## Of sold calls\n\nEvery call that is sold may fail with ${SOLD_CALL_ERRORS.map((name) => `[${code(name)}](#${name})`).join(', ')}.\n\n${sections.join('\n')}`;
}
