import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { freePort } from '../../core/process/free-port.ts';
import { compiledSources } from '../kit/compile-sources.ts';
import { watchedFile } from '../kit/secrets-watch.ts';
import { isRunning, waitUntil } from '../kit/wait-until.ts';

const WITHIN_MS = 240_000;
const NO_NODE = { chain: 'base-sepolia', rpcUrls: ['http://127.0.0.1:9'], startBlock: 0 };

test('a request that stops the event loop for ever costs one process: the service is started again over its data, and answers', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'settlement-index-keep-'));
  const [port, metricsPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const config = join(dataDir, 'config.json');
  writeFileSync(
    config,
    JSON.stringify({
      dataDir,
      chains: [NO_NODE],
      access: { anonymous: 'open' },
      http: { port },
      metrics: { port: metricsPort },
    }),
  );
  const logFile = watchedFile('kept.log');
  const log = openSync(logFile, 'w');
  const hook = fileURLToPath(new URL('../kit/stop-the-loop.mjs', import.meta.url));
  const supervisor = spawn(
    process.execPath,
    [join(compiledSources(), 'src', 'main.js'), 'start', '--config', config],
    {
      stdio: ['ignore', log, log],
      env: { ...process.env, NODE_OPTIONS: `--import=${hook}` },
    },
  );
  closeSync(log);
  try {
    const answers = (path: string): Promise<boolean> => {
      if (supervisor.exitCode !== null) throw new Error(readFileSync(logFile, 'utf8'));
      return fetch(url + path).then(
        (answer) => answer.ok,
        () => false, // not listening yet
      );
    };
    const metric = (): Promise<string> =>
      fetch(`http://127.0.0.1:${metricsPort}/metrics`).then(
        (answer) => answer.text(),
        () => '',
      );
    await waitUntil('it is ready', () => answers('/readyz'), WITHIN_MS);
    expect(await metric()).toMatch(/^settlement_index_loop_stops_total(?:\{[^}]*\})? 0$/m);
    const firstPid = servingPid(logFile);

    const body = JSON.stringify({ query: "SELECT 'stop the loop'" });
    const headers = { 'content-type': 'application/json' };
    const broken = await fetch(`${url}/v0/sql`, { method: 'POST', headers, body }).catch(() => null);
    expect(broken).toBeNull();

    await waitUntil('it is ready again', () => answers('/readyz'), WITHIN_MS);
    // Refused for a while where the machine is so busy that the loop is late.
    await waitUntil('it answers a read', () => answers('/v0/flows'), WITHIN_MS);
    expect(await metric()).toMatch(/^settlement_index_loop_stops_total(?:\{[^}]*\})? 1$/m);
    const text = readFileSync(logFile, 'utf8');
    expect(text).toContain(createHash('sha256').update(body).digest('hex'));
    expect(text).not.toContain('stop the loop');
    const secondPid = servingPid(logFile);
    expect(secondPid).not.toBe(firstPid);
    expect(isRunning(firstPid)).toBe(false);

    supervisor.kill('SIGTERM');
    expect(await once(supervisor, 'exit')).toEqual([0, null]);
    expect(isRunning(secondPid)).toBe(false);
  } finally {
    supervisor.kill('SIGKILL');
  }
});

/** The process that said last that it serves. */
function servingPid(logFile: string): number {
  const lines = readFileSync(logFile, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"serving"'));
  return Number((JSON.parse(lines.at(-1) ?? '{}') as { readonly pid?: number }).pid);
}
