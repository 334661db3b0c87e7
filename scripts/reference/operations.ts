import { usdNumber } from '../../core/domain/amount.ts';
import { ERROR_CODES, ERRORS, type ErrorCode } from '../../core/errors.ts';
import { JSON_BODY_MAX_BYTES } from '../../src/http/request-input.ts';
import { failsOf } from '../../src/openapi/failures.ts';
import type { AnyOperation } from '../../src/operations/define.ts';
import { SOLD_CALL_ERRORS } from './errors.ts';
import { code, generatedHead, table } from './markdown.ts';

function routesTable(operations: readonly AnyOperation[]): string {
  return table(
    ['route', 'answers', 'price'],
    operations.map((operation) => [
      `[${code(`${operation.method} /v0${operation.path}`)}](#${operation.id.toLowerCase()})`,
      operation.summary,
      priceWords(operation),
    ]),
  );
}

function priceWords({ price }: AnyOperation): string {
  const { range } = price;
  if (range !== undefined) {
    const usd = range.x402UsdMicros;
    const units = `${range.qu.min} to ${range.qu.max} QU`;
    return usd === null ? units : `${units}, or ${usdNumber(usd.min)} to ${usdNumber(usd.max)} USD`;
  }
  const perCall = `${usdNumber(price.x402UsdMicros)} USD`;
  switch (price.class) {
    case 'free':
      return 'free';
    case 'keyed':
      return `any key, or ${perCall}`;
    case 'metered':
      return price.x402UsdMicros === 0n ? `from ${price.qu} QU` : `${price.qu} QU, or ${perCall}`;
    case 'sold':
      return `${perCall} over x402`;
  }
}

const INTRO = `All routes are under \`/v0\` and, with the same answers, under \`/api/v0\`. The machine-readable form is [openapi.json](openapi.json), served
at \`/openapi.json\`. A parameter that an operation does not have is 400 \`invalid_parameter\`, as is one given twice. A POST takes its
parameters as fields of one JSON object (\`Content-Type: application/json\`, at most ${JSON_BODY_MAX_BYTES / 1024} KiB), and changes nothing but what it charges.
Answers are compressed on request: gzip and br always, zstd where the runtime has it (Node 22.15 and newer).

Every answer has \`X-Request-Id\`, \`Server-Timing\`, the quota (\`RateLimit-Policy\`, \`RateLimit\`, \`X-RateLimit-*\`) and, on lists, a weak \`ETag\` over what
it says (not over \`as_of\` and \`freshness\`) and \`Link: …; rel="next"\`. \`min_probability\` and \`exclude_self_payments\` filter a page after it was read:
a short or empty page is not the end, a null \`next_before\` is.

Prices: *any key* opens the route at 0 QU; *QU* are drawn from the organization behind the key; *USD* is paid call by call over x402, without a
key ([payments](../payments.md)). The list is served live by [\`/v0/account\`](#getaccount).
On the documentation site every operation has a page of its own, with a request in curl, TypeScript and Python.

`;

export function operationsPage(operations: readonly AnyOperation[]): string {
  const common = ERROR_CODES.filter((name) =>
    operations.every((operation) => failsOf(operation).includes(name)),
  );
  const sections = operations.map((operation) => operationSection(operation, common));
  return `${generatedHead('API operations', 'src/operations')}${INTRO}Every operation may fail with ${listOf(common)}; each names the others that it has.\n\n${routesTable(operations)}\n<!-- operations -->\n\n${sections.join('\n')}`;
}

/** Codes with their status, each linked to what it means. */
function listOf(codes: readonly ErrorCode[]): string {
  return codes.map((name) => `[${code(name)}](errors.md#${name}) ${ERRORS[name].status}`).join(', ');
}

function operationSection(operation: AnyOperation, common: readonly ErrorCode[]): string {
  const params = Object.entries(operation.params).map(([name, param]) => [
    code(name),
    param.in,
    param.schema['default'] === undefined ? '' : code(String(param.schema['default'])),
    param.description,
  ]);
  const named = failsOf(operation).filter((name) => !common.includes(name));
  const isSold = SOLD_CALL_ERRORS.every((name) => named.includes(name));
  const own = isSold ? named.filter((name) => !SOLD_CALL_ERRORS.includes(name)) : named;
  const errors = [
    ...(isSold ? ['those [of sold calls](errors.md#of-sold-calls)'] : []),
    ...(own.length === 0 ? [] : [listOf(own)]),
  ];
  return [
    `## ${operation.id}\n\n\`${operation.method} /v0${operation.path}\`: ${operation.summary}.\n\n${operation.description} ${operation.price.meaning}\n`,
    params.length === 0 ? 'No parameters.\n' : table(['parameter', 'in', 'default', 'meaning'], params),
    ...(errors.length === 0 ? [] : [`Errors: ${errors.join(', ')}.\n`]),
    `\`\`\`json\n${JSON.stringify(operation.example, null, 2)}\n\`\`\`\n`,
  ].join('\n');
}
