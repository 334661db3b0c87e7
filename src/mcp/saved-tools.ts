import type { Gate } from '../gate/gate.ts';
import { type AnyOperation, toolName } from '../operations/define.ts';
import { callSavedQuery } from '../operations/saved/call.ts';
import { getOwnerOpenApi } from '../operations/saved/public.ts';
import { type McpExchange, toolCall } from './exchange.ts';
import { type Tool, toolOf } from './tool.ts';

/**
 * The saved queries of one owner as tools with names and parameters of their own, for a client of `/mcp?queries={owner}`: those that its key
 * may call and find, as the owner's OpenAPI document has them. Other clients have `call_saved_query` for all of them, and a short list.
 */

/** No other tool begins so. */
const PREFIX = 'q_';
/** As of every list here; more are called with `call_saved_query`. */
const LISTED_MAX = 100;

/** The owner that the address of a client names; null where it names none. */
export function ownerOf(url: URL): string | null {
  return url.searchParams.get('queries');
}

/** The part of an owner's OpenAPI document that tools are made of. */
interface DescribedQuery {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: object;
  }[];
}

/** In every query's document; for programs, not for models. */
const LEFT_OUT: readonly string[] = ['version', 'format'];

/** The tools of an owner, in the order of the document. Rejects with `query_not_found` where the caller may see none. */
export async function listSavedTools(
  owner: string,
  { gate, operations }: { readonly gate: Pick<Gate, 'call'>; readonly operations: readonly AnyOperation[] },
  exchange: McpExchange,
): Promise<readonly Tool['definition'][]> {
  const operationOf = (id: string): AnyOperation => {
    const operation = operations.find((one) => one.id === id);
    if (operation === undefined) throw new Error(`no operation ${id}`);
    return operation;
  };
  const { answer } = await gate.call(toolCall(operationOf(getOwnerOpenApi.id), { owner }, exchange));
  if (!('body' in answer)) throw new Error('a document that is no object');
  const paths = answer.body['paths'] as Readonly<Record<string, { readonly get: DescribedQuery }>>; // of ownerDocument
  const { definition } = toolOf(operationOf(callSavedQuery.id), (text) => text);
  return Object.values(paths)
    .slice(0, LISTED_MAX)
    .map(({ get }) => ({ ...definition, ...describedTool(get) }));
}

function describedTool({ operationId, summary, description, parameters }: DescribedQuery) {
  const shown = parameters.filter(({ name }) => !LEFT_OUT.includes(name));
  const required = shown.filter((parameter) => parameter.required === true).map(({ name }) => name);
  return {
    name: `${PREFIX}${operationId}`,
    description: `${summary}. ${description}`,
    inputSchema: {
      type: 'object' as const,
      properties: Object.fromEntries(
        shown.map(({ name, schema, description: meaning }) => [
          name,
          { ...schema, ...(meaning === undefined ? {} : { description: meaning }) },
        ]),
      ),
      ...(required.length > 0 ? { required } : {}),
      additionalProperties: false,
    },
  };
}

/** The call of a tool as that of `call_saved_query`; null where the name is no saved query's. */
export function savedCall(
  owner: string,
  name: string,
  given: Readonly<Record<string, unknown>>,
): { readonly tool: string; readonly given: Readonly<Record<string, unknown>> } | null {
  if (!name.startsWith(PREFIX)) return null;
  const { limit, offset, ...values } = given;
  const slug = name.slice(PREFIX.length).replaceAll('_', '-');
  const page = { ...(limit === undefined ? {} : { limit }), ...(offset === undefined ? {} : { offset }) };
  return { tool: toolName(callSavedQuery.id), given: { owner, slug, arguments: values, ...page } };
}
