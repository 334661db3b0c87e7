import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';

/**
 * What HTTP says beside a message, derived from it: since 2026-07-28 the version, the method and the name that it is about; before,
 * the version that `initialize` agreed on. Source: MCP 2026-07-28, Streamable HTTP.
 */
export function messageHeaders(message: JSONRPCMessage, negotiated: string | null): Record<string, string> {
  const version = isJSONRPCRequest(message) ? message.params?._meta?.[PROTOCOL_VERSION_META_KEY] : undefined;
  if (!isJSONRPCRequest(message) || typeof version !== 'string')
    return negotiated === null ? {} : { 'mcp-protocol-version': negotiated };
  const about = nameOf(message.method, message.params ?? {});
  return {
    'mcp-protocol-version': version,
    'mcp-method': message.method,
    ...(about === undefined ? {} : { 'mcp-name': headerText(about) }),
  };
}

/** The parameter that names what a method is about. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

function nameOf(method: string, params: object): string | undefined {
  const field = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined;
  const value: unknown = field === undefined ? undefined : Reflect.get(params, field);
  return typeof value === 'string' ? value : undefined;
}

const PLAIN = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
const ENCODED = /^=\?base64\?.*\?=$/;

/** Text that a header cannot hold, or that looks encoded, is encoded. */
function headerText(text: string): string {
  return PLAIN.test(text) && !ENCODED.test(text)
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
