import type { AnyOperation } from '../../operations/define.ts';
import { type Param, takesBody } from '../../operations/params.ts';

/** One request of an operation, with the examples of its parameters, as text for curl, TypeScript and Python. */

/** Stands in all pages for the URL of the service; a deployment that knows its own puts that in its place (docs-site.ts). */
const DEPLOYMENT_URL = 'https://index.example';

export interface ExampleRequest {
  readonly method: string;
  /** From `/v0` on, with its query. */
  readonly path: string;
  /** Null without a body. */
  readonly body: unknown;
  /** Whether it sends a key. */
  readonly hasKey: boolean;
}

/** Optional parameters that say what an operation is for; the others would only narrow the answer. */
const SHOWN_OPTIONS: readonly string[] = ['q', 'table', 'window', 'limit', 'arguments'];
/** Of a list: enough to see what a row is. */
const SHOWN_ROWS = 3;

/** A sold call sends no key: its first answer is the offer. */
export function exampleRequest(operation: AnyOperation, fails: readonly string[]): ExampleRequest {
  const { method, params, price } = operation;
  const path = operation.path.replace(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(String(params[name]?.example ?? '')).replaceAll('%3A', ':'),
  );
  const query = new URLSearchParams(
    Object.entries(params)
      .filter(([name, param]) => param.in === 'query' && isShown(name, param))
      .map(([name, { example }]) => [name, String(name === 'limit' ? SHOWN_ROWS : example)]),
  );
  return {
    method,
    path: `/v0${path}${query.size === 0 ? '' : `?${query}`}`,
    body: takesBody(operation) ? exampleBody(operation) : null,
    hasKey: price.class !== 'sold' && fails.includes('api_key_required'),
  };
}

function isShown(name: string, { required, example }: Param): boolean {
  return example !== undefined && (required || SHOWN_OPTIONS.includes(name));
}

function exampleBody({ params, requestExamples = {} }: AnyOperation): unknown {
  const [first] = Object.values(requestExamples);
  if (first !== undefined) return first.value;
  const fields = Object.entries(params).filter(
    ([, param]) => param.in === 'body' && param.example !== undefined,
  );
  const required = fields.filter(([, param]) => param.required);
  return Object.fromEntries(
    (required.length > 0 ? required : fields.slice(0, 1)).map(([name, { example }]) => [name, example]),
  );
}

/** The same request in each language, by the name on the fence of its block. */
export function requestTexts(request: ExampleRequest): Readonly<Record<'sh' | 'ts' | 'python', string>> {
  return { sh: curl(request), ts: typescript(request), python: python(request) };
}

function curl({ method, path, body, hasKey }: ExampleRequest): string {
  return [
    `curl -s "${DEPLOYMENT_URL}${path}"`,
    ...(method === 'GET' || (method === 'POST' && body !== null) ? [] : [`-X ${method}`]),
    ...(hasKey ? ['-H "X-API-Key: $KEY"'] : []),
    ...(body === null ? [] : ["-H 'Content-Type: application/json'", `-d '${shellJson(body)}'`]),
  ].join(' \\\n  ');
}

/** In single quotes a shell reads nothing but the next single quote. */
function shellJson(body: unknown): string {
  return JSON.stringify(body).replaceAll("'", "'\\''");
}

function typescript({ method, path, body, hasKey }: ExampleRequest): string {
  const headers = [
    ...(hasKey ? ["'X-API-Key': process.env['KEY'] ?? ''"] : []),
    ...(body === null ? [] : ["'Content-Type': 'application/json'"]),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',\n`]),
    ...(headers.length === 0 ? [] : [`  headers: { ${headers.join(', ')} },\n`]),
    ...(body === null ? [] : [`  body: JSON.stringify(${indented(JSON.stringify(body, null, 2))}),\n`]),
  ].join('');
  const init = options === '' ? '' : `, {\n${options}}`;
  return `const answer = await fetch('${DEPLOYMENT_URL}${path}'${init});
if (!answer.ok) throw new Error(await answer.text());
console.log(await answer.json());`;
}

function indented(text: string): string {
  return text.replaceAll('\n', '\n  ');
}

function python({ method, path, body, hasKey }: ExampleRequest): string {
  const headers = [
    ...(hasKey ? ['"X-API-Key": os.environ["KEY"]'] : []),
    ...(body === null ? [] : ['"Content-Type": "application/json"']),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`    method="${method}",\n`]),
    ...(headers.length === 0 ? [] : [`    headers={${headers.join(', ')}},\n`]),
    ...(body === null ? [] : [`    data=json.dumps(${pythonValue(body)}).encode(),\n`]),
  ].join('');
  return `import json${hasKey ? ', os' : ''}
from urllib.request import Request, urlopen

request = Request(
    "${DEPLOYMENT_URL}${path}",
${options})
with urlopen(request) as answer:
    print(json.load(answer))`;
}

/** JSON as a Python literal: texts of JSON are texts of Python too. */
function pythonValue(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const fields = Object.entries(value).map(
    ([name, field]) => `${JSON.stringify(name)}: ${pythonValue(field)}`,
  );
  return `{${fields.join(', ')}}`;
}
