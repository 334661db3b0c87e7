import { type AnyOperation, PUBLIC_URL_MARK } from '../operations/define.ts';
import { priceInUnits } from '../operations/prices.ts';
import { toolName } from './tool-name.ts';
import { inputSchema, type JsonSchema, outputSchema } from './tool-schema.ts';
import type { ToolWords } from './tool-words.ts';

/** An operation as a tool. */
export interface Tool {
  readonly operation: AnyOperation;
  readonly definition: ToolDefinition;
}

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  readonly annotations: {
    readonly readOnlyHint: true;
    readonly openWorldHint: false;
  };
}

/** Nothing is changed by any tool but what is charged; the index is a closed world. */
const ANNOTATIONS = { readOnlyHint: true, openWorldHint: false } as const;

/** By name. */
export function toolsOf(operations: readonly AnyOperation[], words: ToolWords): ReadonlyMap<string, Tool> {
  return new Map(
    operations.map((operation) => {
      const name = toolName(operation.id);
      const definition = {
        name,
        description: `${operation.toolText} ${priceInUnits(operation.price)}`,
        inputSchema: inputSchema(operation, words),
        outputSchema: outputSchema(operation),
        annotations: ANNOTATIONS,
      };
      return [name, { operation, definition }];
    }),
  );
}

/** As it is told to a caller who knows the service under this URL. */
export function definitionAt({ definition }: Tool, url: string): ToolDefinition {
  const { description } = definition;
  return description.includes(PUBLIC_URL_MARK)
    ? { ...definition, description: description.replaceAll(PUBLIC_URL_MARK, url) }
    : definition;
}
