import { describe, expect, test } from 'vitest';
import { messageHeaders } from '../../../src/mcp-bridge/message-headers.ts';
import { serviceUrls } from '../../../src/mcp-bridge/service-url.ts';

/** What the bridge says over HTTP beside a message, and where it says it. The bridge itself is test/src/mcp-bridge/mcp-bridge.engine.test.ts. */

const VERSION = 'io.modelcontextprotocol/protocolVersion';

function request(method: string, params: Record<string, unknown> = {}) {
  return { jsonrpc: '2.0' as const, id: 1, method, params };
}

describe('the headers of a message', () => {
  const modern = (params: Record<string, unknown> = {}) => ({
    ...params,
    _meta: { [VERSION]: '2026-07-28' },
  });

  test.each([
    ['tools/call', { name: 'list_flows' }, 'list_flows'],
    ['resources/read', { uri: 'docs://sql' }, 'docs://sql'],
    ['prompts/get', { name: 'größe' }, '=?base64?Z3LDtsOfZQ==?='],
    ['tools/call', { name: ' a' }, '=?base64?IGE=?='],
    ['tools/call', { name: '=?base64?YQ==?=' }, '=?base64?PT9iYXNlNjQ/WVE9PT89?='],
    ['tools/list', { name: 'not what it is about' }, undefined],
    ['tools/call', { name: 7 }, undefined],
  ])('of today say the version, the method and what it is about: %s %o', (method, params, name) => {
    expect(messageHeaders(request(method, modern(params)), '2025-11-25')).toEqual({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name === undefined ? {} : { 'mcp-name': name }),
    });
  });

  test('of earlier say the version that was agreed on, once there is one', () => {
    expect(messageHeaders(request('initialize'), null)).toEqual({});
    const agreed = { 'mcp-protocol-version': '2025-11-25' };
    expect(messageHeaders(request('tools/list'), '2025-11-25')).toEqual(agreed);
    const notice = { jsonrpc: '2.0' as const, method: 'notifications/initialized' };
    expect(messageHeaders(notice, '2025-11-25')).toEqual(agreed);
  });
});

test.each([
  ['https://index.example', 'https://index.example/mcp', 'https://index.example/v0/account'],
  ['https://index.example/', 'https://index.example/mcp', 'https://index.example/v0/account'],
  ['https://index.example/mcp', 'https://index.example/mcp', 'https://index.example/v0/account'],
  [
    'https://index.example/api/v0',
    'https://index.example/api/v0/mcp',
    'https://index.example/api/v0/account',
  ],
  ['https://index.example/v0/mcp?x=1', 'https://index.example/v0/mcp', 'https://index.example/v0/account'],
])('%s is understood', (given, mcp, account) => {
  expect(serviceUrls(given)).toMatchObject({ mcp, account });
});
