import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CURRENT_PROTOCOL, EARLIER_PROTOCOLS } from '../../src/mcp/server.ts';
import type { ApiAnswer } from './api.ts';

/** Clients of both generations of the protocol's own SDK, in every protocol that they can speak. */

export type Headers = Readonly<Record<string, string>>;

/** What a client must send with every message. */
export const STREAMABLE: Headers = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

/** What tests ask of a client; both generations check structured answers against the schema of the tool they listed. */
export interface Speaker {
  listTools(): Promise<{
    readonly tools: readonly {
      readonly name: string;
      readonly description?: string | undefined;
      readonly annotations?: { readonly readOnlyHint?: boolean | undefined } | undefined;
      readonly outputSchema?: Readonly<Record<string, unknown>> | undefined;
    }[];
  }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<Record<string, unknown>>;
  listResources(): Promise<{ readonly resources: readonly { readonly uri: string }[] }>;
  readResource(resource: { uri: string }): Promise<{ readonly contents: readonly unknown[] }>;
  close(): Promise<void>;
}

/** With the SDK that the service itself is made of. */
export async function connect(url: string, headers: Headers, version = CURRENT_PROTOCOL): Promise<Client> {
  const isCurrent = version === CURRENT_PROTOCOL;
  const versionNegotiation = { mode: isCurrent ? { pin: CURRENT_PROTOCOL } : ('legacy' as const) };
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation, supportedProtocolVersions: [version] },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}

/** With the SDK of the generation before, which most clients are still made of. */
async function connectFirst(url: string, headers: Headers): Promise<Speaker> {
  const client = new FirstClient({ name: 'test', version: '1' });
  const transport = new FirstTransport(new URL(url), { requestInit: { headers } });
  // Its optional fields were declared without `exactOptionalPropertyTypes`.
  await client.connect(transport as Parameters<FirstClient['connect']>[0]);
  return client;
}

export const SPEAKERS: readonly {
  readonly name: string;
  connect(url: string, headers: Headers): Promise<Speaker>;
}[] = [
  ...[CURRENT_PROTOCOL, ...EARLIER_PROTOCOLS].map((version) => ({
    name: `SDK 2 in protocol ${version}`,
    connect: (url: string, headers: Headers): Promise<Speaker> => connect(url, headers, version),
  })),
  { name: 'SDK 1', connect: connectFirst },
];

/** A call's answer, as agents see it. */
export interface CommandOutput {
  readonly said: ApiAnswer['body'];
  readonly text: string;
  readonly isError: boolean;
}

export async function call(
  client: Pick<Speaker, 'callTool'>,
  name: string,
  given: Record<string, unknown> = {},
): Promise<CommandOutput> {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: given });
  const [first] = content as { text: string }[];
  return { said: structuredContent, text: first?.text ?? '', isError: isError === true };
}
