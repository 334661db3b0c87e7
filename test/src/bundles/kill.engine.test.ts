import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BundleOrders } from '../../kit/bundle-child.ts';
import { type BundleWorld, bundleWorld, fillWorld } from '../../kit/bundles.ts';
import { compiledSources } from '../../kit/compile-sources.ts';
import { type TestEngine, testEngine } from '../../kit/engine.ts';

let engine: TestEngine;
let straight: BundleWorld;
let killed: BundleWorld;

beforeAll(async () => {
  engine = await testEngine();
  straight = bundleWorld(engine.access);
  killed = bundleWorld(engine.access);
  await fillWorld(engine.writer);
});
afterAll(async () => {
  straight.remove();
  killed.remove();
  await engine.close();
});

/** Of every file: its content, in hex. None before a run has come to make the directory. */
function contents(world: BundleWorld): ReadonlyMap<string, string> {
  const root = world.config.bundles.dir;
  if (!existsSync(root)) return new Map();
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).map((path) => join(root, path));
  return new Map(
    paths
      .filter((path) => statSync(path).isFile())
      .map((path) => [relative(root, path), readFileSync(path).toString('hex')]),
  );
}

/** Starts a run, and kills it so long after it began. Answers whether it had ended before. */
async function runAndKill(orders: BundleOrders, afterMs: number): Promise<boolean> {
  const program = join(compiledSources(), 'test/kit/bundle-child.js');
  const child = spawn(process.execPath, [program, JSON.stringify(orders)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  await once(child.stdout, 'data');
  await Promise.race([delay(afterMs), gone]);
  child.kill('SIGKILL');
  const [code] = await gone;
  return code === 0;
}

const KILLS = 8;
const KILL_WITHIN_MS = 700;

test('runs that are killed at random moments end in the files and manifests of one that was not', async () => {
  await straight.make();
  mkdirSync(killed.config.dataDir, { recursive: true });
  copyFileSync(join(straight.config.dataDir, 'bundle.key'), join(killed.config.dataDir, 'bundle.key'));
  const orders = { access: engine.access, directory: killed.directory };
  let cut = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const ended = await runAndKill(orders, Math.random() * KILL_WITHIN_MS);
    cut += ended ? 0 : 1;
    // A reader finds whole bundles at any time.
    for (const path of contents(killed).keys())
      if (path.endsWith('manifest.json'))
        JSON.parse(readFileSync(join(killed.config.bundles.dir, path), 'utf8'));
  }
  expect(cut).toBeGreaterThan(0);
  await killed.make();
  expect(contents(killed)).toEqual(contents(straight));
}, 180_000);
