import { describe, expect, test } from 'vitest';
import { INSTRUCTIONS } from '../../../src/mcp/server.ts';
import { definitionAt, toolsOf, toolWordsOf } from '../../../src/mcp/tool.ts';
import { toolName } from '../../../src/operations/define.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';
import { TOOL_ROWS_DEFAULT } from '../../../src/operations/sql/params.ts';

/** The text that a model gets about every tool, on every turn. */

const TOOLS_LIST_MAX_BYTES = 36_000;
const INSTRUCTIONS_MAX_BYTES = 1_500;

const words = toolWordsOf(OPERATIONS);
const tools = [...toolsOf(OPERATIONS, words).values()].map((tool) => ({
  ...tool,
  definition: definitionAt(tool, 'https://index.example'),
}));

/** Every text for a model, with the place where it stands. */
const texts = tools.flatMap(({ definition: { name, description, inputSchema } }) => [
  [name, description] as const,
  ...Object.entries(Object(inputSchema['properties'])).map(
    ([param, property]) => [`${name}.${param}`, String(Object(property).description)] as const,
  ),
]);

test('all tools together are less than a model can be handed on every turn', () => {
  const list = JSON.stringify({ tools: tools.map(({ definition }) => definition) });
  expect(Buffer.byteLength(list)).toBeLessThan(TOOLS_LIST_MAX_BYTES);
});

describe('a text', () => {
  test.each(texts)('%s ends where its sentence ends', (_place, text) => {
    expect(text).not.toMatch(/…|\.\.\./);
    expect(text).toMatch(/[A-Za-z0-9)`]\.$/);
    expect(text).toMatch(/^[A-Z`]|^[a-z_0-9]+[:' ]/);
  });

  test.each(texts)('%s speaks of tools, and of none that is not there', (place, text) => {
    if (!place.startsWith('mint_trial_key')) expect(text).not.toMatch(/\/v0|GET |POST /);
    const known = tools.map(({ definition }) => definition.name);
    for (const [name] of text.matchAll(/\b(?:get|list|run|mint)_\w+/g)) expect(known).toContain(name);
  });
});

test('each tool states its purpose in words of its own, and its cost', () => {
  const described = tools.map(({ definition }) => definition.description);
  expect(new Set(described).size).toBe(tools.length);
  for (const text of described) expect(text).toMatch(/(Free|QU|buys nothing)\.$/);
});

test('the key that is sold is sold by name: URL, method, price, and what to do with it', () => {
  const mint = tools.find(({ operation }) => operation.id === 'mintTrialKey');
  const text = mint?.definition.description ?? '';
  expect(text).toContain('GET https://index.example/v0/test/x402');
  expect(text).toContain('0.01 USD');
  for (const word of ['402', 'accepts', 'X-PAYMENT', 'api_key', 'X-API-Key']) expect(text).toContain(word);
});

test('the rows that a query gives by default are those that its parameter names', () => {
  const text = texts.find(([place]) => place === 'run_sql.max_rows')?.[1];
  expect(text).toContain(`Default ${TOOL_ROWS_DEFAULT}.`);
});

describe('the instructions', () => {
  test('are short, and send no model to the documentation', () => {
    expect(Buffer.byteLength(INSTRUCTIONS)).toBeLessThan(INSTRUCTIONS_MAX_BYTES);
    expect(INSTRUCTIONS).not.toMatch(/docs:|resource/);
  });

  test('say how accounts of either kind of chain are written', () => {
    expect(INSTRUCTIONS).toMatch(/EVM chains and Solana/);
    expect(INSTRUCTIONS).toMatch(/lower-case 0x text, of Solana base58/);
  });

  test('name tools that are there', () => {
    const known = OPERATIONS.filter(({ tool }) => tool !== null).map(({ id }) => toolName(id));
    const named = [...INSTRUCTIONS.matchAll(/\b(?:get|list|run)_\w+/g)].map(([name]) => name);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
    expect(named.length).toBeGreaterThan(5);
  });
});
