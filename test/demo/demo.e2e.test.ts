import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEMO_START_TIMEOUT_MS, type DemoRuns, demoRuns } from '../kit/demo-run.ts';
import { watchSecret, watchText } from '../kit/secrets-watch.ts';
import { waitUntil } from '../kit/wait-until.ts';

const END_TIMEOUT_MS = 60_000;

let runs: DemoRuns;
let directory: string;

beforeEach(() => {
  runs = demoRuns();
  directory = runs.directory;
});
afterEach(() => runs.close());

/** The lines to try, as the demo prints them. */
function curlLines(output: string): CurlLine[] {
  const lines = output.matchAll(/^ {2}curl -si? ((?:-H '[^']+' )*)'([^']+)'(?: -d '([^']+)')?$/gm);
  return [...lines].map(([, flags = '', url = '', body]) => {
    const headers = Object.fromEntries(
      [...flags.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name = '', value = '']) => [name, value]),
    );
    return { url, headers, body, key: headers['X-API-Key'] };
  });
}

interface CurlLine {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly key: string | undefined;
}

function send({ url, headers, body }: CurlLine): Promise<Response> {
  return fetch(url, body === undefined ? { headers } : { method: 'POST', headers, body });
}

function figure(output: string, name: string): string {
  return new RegExp(`^  ${name} +(.*)$`, 'm').exec(output)?.[1] ?? `no line "${name}" in:\n${output}`;
}

describe('npm run demo -- --once', () => {
  // In a directory that another demo left when it was killed: to start is most of what a demo costs.
  it('leaves no process behind when it is killed with -9, and starts again over what it left: it indexes as many settlements as asked for, finds no lie and leaves nothing running', async () => {
    const killed = runs.compiled('--port', '0', '--no-history');
    await waitUntil(
      'the first answer',
      () => killed.output().includes('first settlement served'),
      DEMO_START_TIMEOUT_MS,
    );
    killed.child.kill('SIGKILL');
    await killed.ended;
    await waitUntil(
      'no process is left',
      async () => (await killed.survivors()).length === 0,
      END_TIMEOUT_MS,
    );

    expect(readdirSync(directory)).toEqual(['demo-data']);

    const run = runs.compiled('--once', '300', '--seed', '7', '--port', '0');
    expect(await run.ended, run.output()).toBe(0);

    const output = run.output();
    expect(figure(output, 'settlements')).toBe('300 served, 300 on the chain, 300 wanted');
    expect(figure(output, 'lies')).toMatch(/^0 /);
    for (const tier of ['proven', 'probable', 'unproven', 'not_x402']) expect(output).toContain(`  ${tier} `);
    const [made, seen] = [...figure(output, 'reorgs').matchAll(/\d+/g)].map(Number);
    expect(made).toBeGreaterThan(0);
    expect(seen).toBe(made);
    expect(figure(output, 'x402 purchases')).toMatch(
      /^([4-9]|\d{2,}) of our API and the shops, \1 of them in the index as proven, 0 failed$/,
    );
    expect(figure(output, 'on Solana')).toMatch(
      /^(\d{2,}) payments served, \1 in \d{2,} blocks, [1-9]\d* x402 purchases among them, 0 failed$/,
    );
    expect(figure(output, 'agents')).toMatch(
      /^(\d+) served, \1 registered, all as the registries say; \d+ with a card$/,
    );
    expect(figure(output, 'first served')).toMatch(/^\d+\.\d s after the start$/);
    expect(figure(output, 'history')).toMatch(/\d+ rows\/s/);
    expect(figure(output, 'lag')).toMatch(/^\d+ ms/);

    expect(await run.survivors()).toEqual([]);
    expect(readdirSync(directory), 'its data').toEqual([]);
  });
});

describe('npm run demo', () => {
  it('prints URLs that answer and curl lines, and stops with everything it started on SIGTERM', async () => {
    const run = runs.fromSources('--port', '0', '--seed', '3');
    await run.says('its key');
    const lines = curlLines(run.output());
    expect(lines.filter(({ key }) => key !== undefined)).toHaveLength(3);
    const [secret] = lines.flatMap(({ key }) => key ?? []);
    watchSecret(secret ?? '');
    for (const line of lines) expect((await send(line)).status, line.url).toBe(200);
    expect(lines).toHaveLength(4);
    const [, api = ''] = /^ {2}API +(\S+)$/m.exec(run.output()) ?? [];
    const { chains } = (await (await fetch(`${api}/telemetry`)).json()) as {
      chains: readonly { state: string; sample_data_to: number | null; finalized_block: number | null }[];
    };
    expect(chains.map(({ state }) => state)).toEqual(['following', 'following', 'imported', 'imported']);
    // No sample data is on Solana.
    expect(chains.map(({ sample_data_to: to }) => to !== null && to > 0)).toEqual([true, false, true, true]);
    const goods = [...run.output().matchAll(/demo:pay -- '(http[^']+)'/g)].flatMap(([, url]) => url ?? []);
    expect(goods).toHaveLength(4);
    for (const url of goods) expect((await fetch(url)).status, url).toBe(402);
    const [, consoleUrl = ''] = /^ {2}console +(\S+)/m.exec(run.output()) ?? [];
    const page = await (await fetch(consoleUrl)).text();
    const [, lent = ''] = /name="six-visitor-key" content="([^"]+)"/.exec(page) ?? [];
    watchSecret(lent);
    expect([lent.startsWith('six_live_'), lent === secret], 'the console lends a key of its own').toEqual([
      true,
      false,
    ]);
    watchText('demo-service', readFileSync(join(directory, 'demo-data', 'service.log'), 'utf8'));
    // Guard and node, guard and service, engine, ingest worker, facilitator.
    expect((await run.survivors()).length).toBeGreaterThanOrEqual(7);

    run.child.kill('SIGTERM');
    expect(await run.ended, run.output()).toBe(0);
    expect(await run.survivors()).toEqual([]);
    expect(readdirSync(directory), 'its data').toEqual([]);
  });

  it('refuses to remove a demo-data directory that it did not make', async () => {
    mkdirSync(join(directory, 'demo-data'));
    writeFileSync(join(directory, 'demo-data', 'thesis.txt'), 'ten years of work');
    const run = runs.compiled('--once', '100', '--port', '0');
    expect(await run.ended).toBe(1);
    expect(run.output()).toContain('was not made by the demo');
    expect(existsSync(join(directory, 'demo-data', 'thesis.txt'))).toBe(true);
  });
});

describe('the command line of the demo', () => {
  it('lists its options with --help', async () => {
    const run = runs.compiled('--help');
    expect(await run.ended).toBe(0);
    for (const option of ['--once', '--minutes', '--no-history', '--seed', '--port', '--keep'])
      expect(run.output()).toContain(option);
  });

  it('suggests the right option for a misspelt one', async () => {
    const run = runs.compiled('--onse', '3');
    expect(await run.ended).not.toBe(0);
    expect(run.output()).toContain('Did you mean --once?');
  });

  it('says what an option takes when it gets something else, and makes nothing', async () => {
    const run = runs.compiled('--port=65536');
    expect(await run.ended).not.toBe(0);
    expect(run.output()).toMatch(/must be a whole number from \d+ to \d+/);
    expect(readdirSync(directory)).toEqual([]);
  });
});
