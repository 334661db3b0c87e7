import type { TSchema } from '@sinclair/typebox';
import { ERRORS } from '../../../core/errors.ts';
import { failsOf } from '../../openapi/failures.ts';
import { tagsOf } from '../../openapi/service.ts';
import { type AnyOperation, toolName } from '../../operations/define.ts';
import type { Param } from '../../operations/params.ts';
import type { DocsPage } from '../pages.ts';
import { exampleRequest, requestTexts } from './request.ts';

/** The page of one operation, as Markdown from its declaration: `/docs/operations/{id}`. */

/** A page whose text is made, not read from docs/. */
export interface OperationPage extends DocsPage {
  readonly markdown: string;
  /** The group of the navigation: the tag of OpenAPI. */
  readonly group: string;
  /** Words of the search for it. */
  readonly words: string;
}

export function operationPages(operations: readonly AnyOperation[]): readonly OperationPage[] {
  return operations.map((operation) => ({
    slug: `operations/${operation.id}`,
    // Where its relative links start from.
    file: `reference/operations/${operation.id}.md`,
    reader: 'reference',
    title: operation.id,
    description: `${operation.summary}.`,
    markdown: operationMarkdown(operation),
    group: tagsOf(operation.id)[0] ?? '',
    words: [
      `${operation.method} /v0${operation.path} ${toolName(operation.id)}: ${operation.summary}. ${operation.description}`,
      ...Object.entries(operation.params).map(([name, { description }]) => `${name} ${description}`),
    ].join('\n'),
  }));
}

/** Follows the list of routes in docs/reference/operations.md: the sections of the operations, which have pages of their own here. */
const SECTIONS_MARK = '<!-- operations -->';

/** The list of routes alone, each linked to its page. */
export function overviewMarkdown(text: string, operations: readonly AnyOperation[]): string {
  const [overview = ''] = text.split(SECTIONS_MARK, 1);
  const ids = new Map(operations.map(({ id }) => [id.toLowerCase(), id]));
  return overview.replace(/\]\(#(\w+)\)/g, (all, anchor: string) => {
    const id = ids.get(anchor);
    return id === undefined ? all : `](operations/${id}.md)`;
  });
}

function operationMarkdown(operation: AnyOperation): string {
  const {
    id,
    method,
    path,
    summary,
    description,
    price,
    example,
    alsoAnswers,
    moreExamples = {},
  } = operation;
  const fails = failsOf(operation);
  const texts = requestTexts(exampleRequest(operation, fails));
  const params = Object.entries(operation.params);
  const answers = Object.values(moreExamples).map(
    ({ summary: says, value }) => `${says}\n\n${jsonBlock(value)}`,
  );
  return [
    `# ${id}`,
    `${summary}.`,
    `\`\`\`\n${method} /v0${path}\n\`\`\``,
    description,
    [
      `- **Price**: ${price.class === 'free' && fails.includes('api_key_required') ? 'Free, with a key.' : price.meaning}`,
      `- **MCP tool**: \`${toolName(id)}\` ([connect an agent](../../mcp.md))`,
      `- **TypeScript client**: \`client.${id}()\` ([the client](../../client.md))`,
      `- **All operations**: [routes and prices](../operations.md)`,
    ].join('\n'),
    '## Request',
    requestNote(operation, fails),
    `<!-- languages -->\n\n${fenced('sh', texts.sh)}\n\n${fenced('ts', texts.ts)}\n\n${fenced('python', texts.python)}\n\n<!-- /languages -->`,
    '## Parameters',
    params.length === 0 ? 'It takes none.' : parametersTable(params),
    '## Answer',
    `Status ${operation.status ?? 200}.${alsoAnswers === undefined ? '' : ' It can have several forms; the usual one is:'}`,
    jsonBlock(example),
    ...answers,
    '## Errors',
    errorsTable(fails),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n');
}

function requestNote({ price }: AnyOperation, fails: readonly string[]): string {
  if (price.class === 'sold')
    return 'It is sold over x402 alone. Without a payment the answer is 402 with the offer ([how to pay](../../payments.md)).';
  if (!fails.includes('api_key_required')) return 'It needs no key.';
  return '`KEY` is your API key ([how to get one](../../access.md#get-an-api-key)).';
}

function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

function jsonBlock(value: unknown): string {
  return fenced('json', JSON.stringify(value, null, 2));
}

function parametersTable(params: readonly (readonly [string, Param])[]): string {
  const rows = params.map(([name, { in: place, required, schema, description }]) => [
    `\`${name}\``,
    `${place}${required ? ', required' : ''}`,
    typeWords(schema),
    schema['default'] === undefined ? '' : `\`${JSON.stringify(schema['default']).replace(/^"|"$/g, '')}\``,
    description,
  ]);
  return table(['parameter', 'in', 'type', 'default', 'meaning'], rows);
}

function errorsTable(fails: ReturnType<typeof failsOf>): string {
  return table(
    ['status', 'code', 'what it means'],
    fails.map((name) => [
      String(ERRORS[name].status),
      `[\`${name}\`](../errors.md#${name})`,
      `${ERRORS[name].title}.`,
    ]),
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}

/** A schema in words: `integer, 1 to 100`, `one of day, week`. */
export function typeWords(schema: TSchema): string {
  const choices = choicesOf(schema);
  if (choices.length > 0) return `one of ${choices.map((choice) => `\`${choice}\``).join(', ')}`;
  if (schema['type'] === 'array')
    return [
      `list of ${typeWords(schema['items'] as TSchema)}`,
      ...rangeWords(schema['minItems'], schema['maxItems'], 'entries'),
    ].join(', ');
  const several: unknown = schema['anyOf'];
  if (Array.isArray(several))
    return [...new Set(several.map((one) => typeWords(one as TSchema)))].join(' or ');
  const { minimum, maximum, exclusiveMinimum, minLength, maxLength, pattern, format } = schema;
  return [
    String(schema['type'] ?? 'any value'),
    ...rangeWords(minimum ?? exclusiveMinimum, maximum, ''),
    ...rangeWords(minLength, maxLength, 'characters'),
    ...(typeof format === 'string' ? [format] : []),
    ...(typeof pattern === 'string' ? [`\`${pattern}\``] : []),
  ].join(', ');
}

/** The words that a schema allows; none where it allows more than words. */
function choicesOf(schema: TSchema): readonly unknown[] {
  if (Array.isArray(schema['enum'])) return schema['enum'];
  if (schema['const'] !== undefined) return [schema['const']];
  const several: unknown = schema['anyOf'];
  if (!Array.isArray(several)) return [];
  const words = several.map((one) => choicesOf(one as TSchema));
  return words.every(({ length }) => length > 0) ? words.flat() : [];
}

function rangeWords(from: unknown, to: unknown, of: string): string[] {
  const unit = of === '' ? '' : ` ${of}`;
  if (from !== undefined && to !== undefined) return [`${String(from)} to ${String(to)}${unit}`];
  if (to !== undefined) return [`at most ${String(to)}${unit}`];
  return from === undefined ? [] : [`at least ${String(from)}${unit}`];
}
