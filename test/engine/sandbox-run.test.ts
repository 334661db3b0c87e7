import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SandboxQuery, SandboxResult } from '../../sandbox/sql-sandbox.ts';
import { type OpenSandbox, openSandbox } from '../../src/open-sandbox.ts';
import { testLog } from '../support/engine.ts';
import { type SandboxEngine, sandboxEngine } from '../support/sandbox-engine.ts';

let engine: SandboxEngine;
let sandbox: OpenSandbox;

beforeAll(async () => {
  engine = await sandboxEngine();
  sandbox = openSandbox({ access: engine.access, log: testLog, cores: 2, restartEngine: engine.restart });
});
afterAll(async () => {
  await sandbox?.close();
  await engine?.close();
});

const NEVER = new AbortController().signal;

async function run(
  text: string,
  wanted: Partial<Omit<SandboxQuery, 'accepted'>> = {},
  signal = NEVER,
): Promise<SandboxResult> {
  const parameters = wanted.parameters ?? {};
  const verdict = await sandbox.inspect(text, parameters);
  if ('refused' in verdict) throw new Error(JSON.stringify(verdict.refused));
  return sandbox.run(
    {
      accepted: verdict.accepted,
      parameters,
      tier: 'standard',
      format: 'csv',
      maxRows: 1_000,
      caller: 'a',
      ...wanted,
    },
    signal,
  );
}

const answer = async (...args: Parameters<typeof run>): Promise<string> =>
  readText((await run(...args)).body);

describe('an accepted query', () => {
  test('runs, and its figures are known before its body is read', async () => {
    const { body, ...facts } = await run('SELECT number FROM numbers(100000) WHERE number % 2 = 0', {
      maxRows: 7,
    });
    expect(facts).toMatchObject({ resultRows: 7, cutByBytes: false });
    expect(facts.rowsRead).toBeGreaterThan(0);
    expect(facts.engineMs).toBeGreaterThan(0);
    expect(await readText(body)).toBe('"number"\n0\n2\n4\n6\n8\n10\n12\n');
  });

  test('is given its parameters as they were sent', async () => {
    const hard = 'a\\b\t"c\'\n\r{x:y}\0é😀';
    expect(
      await answer('SELECT length({v:String}) AS n, hex({v:String}) AS h', { parameters: { v: hard } }),
    ).toBe(`"n","h"\n${Buffer.byteLength(hard)},"${Buffer.from(hard).toString('hex').toUpperCase()}"\n`);
  });
});
